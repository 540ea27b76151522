// SPDX-License-Identifier: Apache-2.0
/// Programs that `./check` runs and that are no tests.
///
/// - [ApiDump][io.bulla.tools.ApiDump] holds the public API of a module against the text that is committed.
/// - [ReleaseRules][io.bulla.tools.ReleaseRules] holds a bundle against the rules of Maven Central.
/// - [Site][io.bulla.tools.Site] renders the documents beside the Javadoc, and looks up every link.
package io.bulla.tools;
