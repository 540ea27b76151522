// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.runtime.pmix.PmixClient;
import io.bulla.runtime.pmix.PmixOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

/// How nodes look for each other.
class JobMembersTest {

    private static List<String> gets(int size, String peers) throws Exception {
        try (JobServer server = new JobServer(_ -> {}, size, peers);
                PmixClient client = PmixClient.connect(server.environment(), PmixOptions.DEFAULT);
                JobMembers members = JobMembers.meet(client, MeetOptions.DEFAULT)) {
            assertEquals(1, members.size(), "this one itself");
            return server.gets();
        }
    }

    @Test
    void serverMayAskOtherHostsForWhatItDoesNotKnow() throws Exception {
        assertEquals(List.of("pmix.immediate", "pmix.immediate", "pmix.timeout"), gets(3, "0,1"));
    }

    @Test
    void processOfThisHostThatServerDoesNotKnowIsNoNode() throws Exception {
        assertEquals(List.of("pmix.immediate", "pmix.immediate"), gets(3, "0,1,2"));
    }

    @Test
    void wishForEventsAndCommitAreUnderWayTogether() throws Exception {
        try (JobServer server = new JobServer(_ -> {})) {
            server.answerEventsLate();
            try (PmixClient client = PmixClient.connect(server.environment(), PmixOptions.DEFAULT);
                    JobMembers members = JobMembers.meet(client, MeetOptions.DEFAULT)) {
                assertEquals(1, members.size());
                assertEquals(0, client.lateAnswers());
            }
        }
    }

    @Test
    void nodesMeetThoughOneCallMayWaitAtATime() throws Exception {
        PmixOptions one = new PmixOptions(
                PmixOptions.DEFAULT.deadline(), PmixOptions.DEFAULT.answerBytes(), 1, PmixOptions.DEFAULT.limits());
        try (JobServer server = new JobServer(_ -> {});
                PmixClient client = PmixClient.connect(server.environment(), one);
                JobMembers members = JobMembers.meet(client, MeetOptions.DEFAULT)) {
            assertEquals(1, members.size());
        }
    }
}
