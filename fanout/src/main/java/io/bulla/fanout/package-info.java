// SPDX-License-Identifier: Apache-2.0
/// One sealed message to many subscribers, whatever carries it to them.
///
/// - [Fanout][io.bulla.fanout.Fanout] sends each message to all who are subscribed, in one order;
///   [Topics][io.bulla.fanout.Topics] sends it to those who follow its topic.
/// - [Subscriber][io.bulla.fanout.Subscriber] is what a transport implements: ready, send, close.
/// - [Subscription][io.bulla.fanout.Subscription] is one subscriber's queue. Its transport says there when it may be
///   ready again, and when it is over.
/// - [SlowPolicy][io.bulla.fanout.SlowPolicy] says what becomes of a subscriber whose queue is full,
///   [End][io.bulla.fanout.End] why a subscription ended, and [FanoutFigures][io.bulla.fanout.FanoutFigures] counts.
///
/// Nothing here knows a transport: `interop/grpc` has one for calls, and `interop/flight` is on top of that.
@NullMarked
package io.bulla.fanout;

import org.jspecify.annotations.NullMarked;
