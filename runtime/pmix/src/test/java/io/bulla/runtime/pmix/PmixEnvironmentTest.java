// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Proc;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What launchers say, and what they should have said.
class PmixEnvironmentTest {

    static Map<String, String> mpirun() {
        Map<String, String> variables = new HashMap<>();
        variables.put("PMIX_NAMESPACE", "21430273");
        variables.put("PMIX_RANK", "3");
        variables.put("PMIX_SERVER_URI41", "21430272.0;tcp4://127.0.0.1:37517");
        variables.put("PMIX_SERVER_URI2", "21430272.0;tcp4://127.0.0.1:37517");
        variables.put("PMIX_SECURITY_MODE", "munge,native");
        variables.put("PMIX_GDS_MODULE", "ds21,ds12,hash");
        variables.put("PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC");
        variables.put("PMIX_VERSION", "4.2.2rc2");
        return variables;
    }

    private static void refused(String message, PmixStatus status, Map<String, String> variables) {
        PmixException refused = assertThrows(PmixException.class, () -> PmixEnvironment.of(variables));
        assertEquals(message, refused.getMessage());
        assertEquals(status, refused.status());
    }

    @Test
    void saysWhoTheProcessIsAndWhereItsServerIs() throws PmixException {
        PmixEnvironment environment = PmixEnvironment.of(mpirun());
        assertEquals(new Proc("21430273", 3), environment.proc());
        assertEquals("21430272.0", environment.server().name());
        assertEquals("/127.0.0.1:37517", environment.server().address().toString());
        assertEquals("v41", environment.module());
        assertEquals(WireFormat.PMIX_4, environment.format());
        assertEquals("4.2.2rc2", environment.version());
    }

    @Test
    void readsTheNamesOfOtherEngines() throws PmixException {
        Map<String, String> slurm = mpirun();
        slurm.put("PMIX_NAMESPACE", "slurm.pmix.4.0");
        slurm.put("PMIX_SERVER_URI41", "pmix-server.12.3;tcp6://[::1]:1");
        slurm.put("PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_FULLY_DESC");
        PmixEnvironment environment = PmixEnvironment.of(slurm);
        assertEquals("pmix-server.12.3", environment.server().name());
        assertEquals(1, environment.server().address().getPort());
        assertEquals(WireFormat.PMIX_4_DESCRIBED, environment.format());
        Map<String, String> newer = mpirun();
        newer.put("PMIX_SERVER_URI61", newer.remove("PMIX_SERVER_URI41"));
        assertEquals("v61", PmixEnvironment.of(newer).module());
    }

    @Test
    void saysWhatIsMissing() {
        refused(
                "not started by a PMIx launcher such as mpirun or srun --mpi=pmix: PMIX_NAMESPACE is not set",
                PmixStatus.UNREACHABLE,
                Map.of());
        Map<String, String> old = mpirun();
        old.remove("PMIX_SERVER_URI41");
        refused(
                "the launcher's PMIx server is too old, or too new: needed=PMIX_SERVER_URI41"
                        + " offered=[PMIX_SERVER_URI2] version=4.2.2rc2",
                PmixStatus.NOT_SUPPORTED,
                old);
        old.remove("PMIX_SERVER_URI2");
        refused(
                "the launcher says no address of its PMIx server: PMIX_SERVER_URI41 is not set",
                PmixStatus.UNREACHABLE,
                old);
    }

    @Test
    void saysWhatIsWrong() {
        for (String uri : new String[] {"", "x", "a.0;usock:/tmp/x", "a.0;tcp4://host:1", "a.0;tcp4://1.2.3.4:99999"}) {
            Map<String, String> wrong = mpirun();
            wrong.put("PMIX_SERVER_URI41", uri);
            refused("not the URI of a PMIx server over TCP: PMIX_SERVER_URI41=" + uri, PmixStatus.BAD_PARAMETER, wrong);
        }
        for (String rank : new String[] {"-1", "x", "4294967294"}) {
            Map<String, String> wrong = mpirun();
            wrong.put("PMIX_RANK", rank);
            refused("not a process: PMIX_NAMESPACE=21430273 PMIX_RANK=" + rank, PmixStatus.BAD_PARAMETER, wrong);
        }
        Map<String, String> munge = mpirun();
        munge.put("PMIX_SECURITY_MODE", "munge");
        refused(
                "the launcher's PMIx server offers nothing that this client has: PMIX_SECURITY_MODE=munge needed=native",
                PmixStatus.NOT_SUPPORTED,
                munge);
        Map<String, String> shared = mpirun();
        shared.put("PMIX_GDS_MODULE", "ds21");
        refused(
                "the launcher's PMIx server offers nothing that this client has: PMIX_GDS_MODULE=ds21 needed=hash",
                PmixStatus.NOT_SUPPORTED,
                shared);
    }
}
