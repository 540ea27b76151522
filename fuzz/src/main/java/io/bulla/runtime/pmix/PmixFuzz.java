// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import static io.bulla.fuzz.FuzzTarget.claim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.ExactMemory;
import io.bulla.fuzz.FuzzInput;
import io.bulla.fuzz.FuzzTarget;
import io.bulla.fuzz.Heap;
import io.bulla.pack.Limits;
import io.bulla.pack.UnpackException;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.internal.events.EventIntake;
import io.bulla.runtime.pmix.internal.job.JobData;
import io.bulla.runtime.pmix.internal.job.Names;
import io.bulla.runtime.pmix.internal.message.Answer;
import io.bulla.runtime.pmix.internal.message.Reading;
import io.bulla.runtime.pmix.internal.wire.Command;

/// Fuzzes the input from a PMIx server: an answer to INIT, GET or LOOKUP, or an event. It is refused by name, or its
/// data can be asked for; no handle stays open but those of the data that was kept.
///
/// ```
/// way 0: INIT    1: GET    2: LOOKUP    3: an event        call: whether items are described
/// ```
public final class PmixFuzz implements FuzzTarget {

    private static final int WAYS = 4;
    // keys and values that are no bytes are objects: some 100 bytes of heap for a few of the message
    private static final long MOST_HEAP = 2 << 20;
    private static final Limits LIMITS = new Limits(1 << 10, 1 << 12);
    private static final Proc SELF = new Proc("21430273", 0);

    private final ExactMemory memory;

    /// A target.
    ///
    /// @param memory where the bytes lie
    public PmixFuzz(ExactMemory memory) {
        this.memory = memory;
    }

    @Override
    public String name() {
        return "Pmix";
    }

    @Override
    public void run(FuzzInput input) {
        Reading reading = new Reading(WireFormat.PMIX_4.described(input.choice(2, 2) == 1), LIMITS);
        int way = input.choice(1, WAYS);
        int open = memory.open();
        long heap = Heap.allocated();
        try (JobData data = new JobData(SELF, reading)) {
            read(data, memory.sealed(input.message()), reading, way);
            data.all(data.job());
            data.find(data.job(), "pmix.job.size");
            data.find(SELF, "pmix.hname");
            data.find(new Proc(SELF.namespace(), 1), "lab.str");
        }
        Heap.claim(heap, MOST_HEAP);
        claim(memory.open() == open, "memory that was not given back", memory.open());
    }

    private static void read(JobData data, SealedBuffer body, Reading reading, int way) {
        if (way == 3) {
            try (body) {
                PmixEvent event = EventIntake.read(body, reading);
                claim(event.status() != null && event.affected() != null, "not an event", event);
            } catch (UnpackException | IllegalArgumentException refused) {
                // dropped and counted
            }
            return;
        }
        Command command = way == 0 ? Command.INIT : way == 1 ? Command.GET : Command.LOOKUP;
        try (Answer answer = new Answer(command, body, reading, new ClientFailures())) {
            if (way == 0) {
                PmixStatus refusal = answer.refusal();
                claim(refusal == null || !refusal.isSuccess(), "refused with success", refusal);
            } else {
                answer.status();
            }
            answer.read(() -> {
                switch (way) {
                    case 0 -> data.takeInit(answer);
                    case 1 -> data.takeGet(answer);
                    default -> Names.found(answer, LIMITS);
                }
                return null;
            });
        } catch (PmixException refused) {
            claim(refused.status().equals(PmixStatus.UNPACK_FAILURE), "refused by another name", refused);
        }
    }
}
