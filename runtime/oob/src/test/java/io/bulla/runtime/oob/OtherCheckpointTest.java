// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.wire.BulkOffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Nodes that do not go on from the same checkpoint have no connection, and say why.
class OtherCheckpointTest {

    private static final int NODES = 2;
    private static final CutName SECOND = new CutName(2, 0xaaL);
    private static final CutName THIRD = new CutName(3, 0xbbL);
    private static final String LAST = "; restore all ranks of a job, from one checkpoint";

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    private static <T> T done(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private static OobNodeBuilder patient(OobNodeBuilder setup) {
        return setup.peerTimeout(Duration.ofMinutes(10));
    }

    private NodeCut[] cuts() throws Exception {
        cluster.start(NODES, OtherCheckpointTest::patient);
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        Cluster.delivered(cluster.send(1, 0, 1, 100));
        NodeCut[] cuts = new NodeCut[NODES];
        for (OobNode node : cluster.nodes) {
            done(node.suspend());
        }
        for (int rank = 0; rank < NODES; rank++) {
            cuts[rank] = done(cluster.node(rank).cut(() -> {}));
        }
        for (OobNode node : cluster.nodes) {
            done(node.resume(node.address()));
        }
        Cluster.delivered(cluster.send(0, 1, 2, 100));
        Cluster.delivered(cluster.send(1, 0, 2, 100));
        Cluster.await("handled", () -> cluster.got.size() == 4);
        cluster.got.clear();
        return cuts;
    }

    private void again(int rank, UnaryOperator<OobNodeBuilder> setup) throws Exception {
        cluster.node(rank).abort();
        cluster.replace(rank, NODES, each -> setup.apply(patient(each)));
    }

    private void refused(Send send, String why) throws Exception {
        // each refuses the other, in either order, and says it in its own words
        String line = Cluster.line(cluster.log, why);
        assertTrue(line.contains("refused a connection") && line.endsWith(why + LAST), line);
        assertTrue(!send.isDone(), "waits for the right peer");
        assertNull(cluster.got.poll());
        assertNull(cluster.lost.poll());
    }

    @Test
    void ranksOfTwoCheckpointsRefuseEachOtherByName() throws Exception {
        NodeCut[] cuts = cuts();
        again(0, setup -> setup.restore(cuts[0], SECOND));
        again(1, setup -> setup.restore(cuts[1], THIRD));
        Send send = cluster.send(0, 1, 3, 100);
        refused(
                send,
                "reason=peer is restored from another checkpoint: rank=0 epoch=2 attempt=aa, rank=1 epoch=3 attempt=bb");
        // nothing is lost: the right one comes
        again(1, setup -> setup.restore(cuts[1], SECOND));
        Cluster.delivered(send);
        assertEquals("1 from 0: 3", cluster.next());
    }

    @Test
    void attemptTellsJobsApartThatHaveAnEpochInCommon() throws Exception {
        NodeCut[] cuts = cuts();
        again(0, setup -> setup.restore(cuts[0], new CutName(3, 0xccL)));
        again(1, setup -> setup.restore(cuts[1], THIRD));
        refused(
                cluster.send(1, 0, 3, 100),
                "reason=peer is restored from another checkpoint: rank=1 epoch=3 attempt=bb, rank=0 epoch=3 attempt=cc");
    }

    @Test
    void rankThatIsRestoredAloneIsRefused() throws Exception {
        NodeCut[] cuts = cuts();
        again(0, setup -> setup.restore(cuts[0], THIRD));
        Send send = cluster.send(0, 1, 3, 100);
        refused(send, "reason=peer is restored alone: rank=0 epoch=3 attempt=bb, rank=1 epoch=none");
        again(1, setup -> setup.restore(cuts[1], THIRD));
        Cluster.delivered(send);
        assertEquals("1 from 0: 3", cluster.next());
    }

    @Test
    void rankThatIsNotRestoredIsRefusedByOneThatWaitsForIt() throws Exception {
        NodeCut[] cuts = cuts();
        again(0, setup -> setup.restore(cuts[0], THIRD));
        again(1, setup -> setup);
        refused(
                cluster.send(1, 0, 3, 100),
                "reason=peer is not restored: rank=1 epoch=none, rank=0 epoch=3 attempt=bb");
    }

    @Test
    void rankThatIsRestoredAgainAloneIsRefused() throws Exception {
        NodeCut[] cuts = cuts();
        cluster.node(1).abort();
        again(0, setup -> setup.restore(cuts[0], THIRD));
        again(1, setup -> setup.restore(cuts[1], THIRD));
        Cluster.delivered(cluster.send(0, 1, 3, 100));
        assertEquals("1 from 0: 3", cluster.next());
        again(1, setup -> setup.restore(cuts[1], THIRD));
        Send send = cluster.send(1, 0, 4, 100);
        String line = Cluster.line(cluster.log, "refused a connection");
        // by whichever is called
        assertTrue(line.contains("restored again: ") || line.contains("this node has gone on: "), line);
        assertTrue(line.contains("rank=0 epoch=3 attempt=bb") && line.contains("rank=1 epoch=3 attempt=bb"), line);
        assertTrue(!send.isDone(), "waits for the right peer");
        again(0, setup -> setup.restore(cuts[0], THIRD));
        Cluster.delivered(send);
        assertEquals("0 from 1: 4", cluster.next());
    }

    @Test
    void restoredJobTakesARestartedRankAsAnyJobDoes() throws Exception {
        NodeCut[] cuts = cuts();
        cluster.node(1).abort();
        again(0, setup -> setup.restore(cuts[0], THIRD));
        again(1, setup -> setup.restore(cuts[1], THIRD));
        Cluster.delivered(cluster.send(0, 1, 3, 100));
        assertEquals("1 from 0: 3", cluster.next());
        again(1, setup -> setup);
        Cluster.delivered(cluster.send(1, 0, 4, 100));
        assertEquals("0 from 1: 4", cluster.next());
        Cluster.line(cluster.lost, "it was restarted");
    }

    @Test
    void helloSaysItOnlyAfterARestoreAndBesideTheLongestOffer() throws Exception {
        RestoredFrom from = new RestoredFrom(3, -5, 77, true);
        byte[] part = from.part();
        byte[] offer = BulkOffer.part(new byte[BulkLine.MOST_ADDRESS]);
        assertTrue(Hello.BYTES + part.length + offer.length <= Hello.MOST);
        byte[] body = new byte[Hello.BYTES + part.length + offer.length];
        System.arraycopy(part, 0, body, Hello.BYTES, part.length);
        System.arraycopy(offer, 0, body, Hello.BYTES + part.length, offer.length);
        try (BufferBuilder builder = BufferBuilder.create(cluster.source);
                SealedBuffer whole = builder.put(body).seal();
                SealedBuffer none = whole.slice(0, Hello.BYTES);
                SealedBuffer cut = whole.slice(0, Hello.BYTES + part.length - 1)) {
            assertEquals(from, RestoredFrom.read(whole));
            assertEquals(BulkLine.MOST_ADDRESS, BulkOffer.read(whole).length);
            assertNull(RestoredFrom.read(none));
            assertNull(RestoredFrom.read(cut));
        }
        NodeCut[] cuts = cuts();
        cluster.node(1).abort();
        assertEquals(Hello.BYTES, lengthOfAnswer(0, 0));
        again(0, setup -> setup.restore(cuts[0], THIRD));
        // of an earlier version, which says nothing
        assertEquals(Hello.BYTES + part.length, lengthOfAnswer(1L << 62 | 1, 1L << 62));
    }

    private int lengthOfAnswer(long small, long others) throws Exception {
        try (SocketChannel channel = SocketChannel.open(cluster.address(0))) {
            ByteBuf hello = Unpooled.buffer();
            Frame.control(Frame.Kind.HELLO, 0, 1, Hello.BYTES).writeTo(hello);
            new Hello(4, 4, 1, NODES, 1, 77, 0, small, others, others, 9, Wire.WINDOW, Wire.WINDOW, 0).writeTo(hello);
            channel.write(hello.nioBuffer());
            ByteBuffer header = Wire.read(channel, Frame.BYTES);
            return Frame.read(header.rewind(), Wire.WINDOW).length();
        }
    }
}
