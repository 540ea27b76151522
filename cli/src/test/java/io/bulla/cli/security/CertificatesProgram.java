// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.security;

import java.io.IOException;

/// A command that has certificates of its own, until its standard input ends.
public final class CertificatesProgram {

    private CertificatesProgram() {}

    public static void main(String[] args) throws IOException {
        try (TrialCertificates certificates = TrialCertificates.temporary(1)) {
            System.out.println(certificates.folder());
            while (System.in.read() >= 0) {}
        }
    }
}
