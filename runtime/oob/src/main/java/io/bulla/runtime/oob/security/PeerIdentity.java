// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.io.IOException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Who a node is: its job and its rank in it. In a certificate the name is a URI among the subject's alternative
/// names, `bulla://JOB/rank/N`.
///
/// @param job letters, digits, dots and dashes, at most 63, the first a letter or a digit
/// @param rank at least 0
public record PeerIdentity(String job, int rank) {

    private static final int URI_NAME = 6;
    private static final String JOB = "[A-Za-z0-9][A-Za-z0-9.-]{0,62}";
    private static final Pattern JOBS = Pattern.compile(JOB);
    private static final Pattern NAMES = Pattern.compile("bulla://(" + JOB + ")/rank/(0|[1-9][0-9]{0,9})");

    /// Checks the name.
    ///
    /// @throws IllegalArgumentException if it is not one
    public PeerIdentity {
        if (!JOBS.matcher(job).matches()) {
            throw new IllegalArgumentException("not a job's name (letters, digits, dots, dashes, at most 63): job="
                    + job.replaceAll("\\p{Cntrl}", "?"));
        }
        if (rank < 0) {
            throw new IllegalArgumentException("a rank is at least 0: rank=" + rank);
        }
    }

    void checkRank(int other) throws IOException {
        if (other != rank) {
            throw new IOException("security is another node's: rank=" + other + " names=" + this);
        }
    }

    /// The name that stands in a certificate.
    ///
    /// @return such as `bulla://trial/rank/3`
    @Override
    public String toString() {
        return "bulla://" + job + "/rank/" + rank;
    }

    /// Whose a certificate is. Nothing is said about its being genuine.
    ///
    /// @param certificate of a node
    /// @return the only name of this kind in it
    /// @throws CertificateException if it has none, or several
    static PeerIdentity of(X509Certificate certificate) throws CertificateException {
        PeerIdentity found = null;
        Collection<List<?>> names = certificate.getSubjectAlternativeNames();
        for (List<?> name : names == null ? List.<List<?>>of() : names) {
            Matcher uri = NAMES.matcher(name.get(0).equals(URI_NAME) ? (String) name.get(1) : "");
            if (uri.matches()) {
                if (found != null) {
                    throw new CertificateParsingException("names two nodes");
                }
                found = new PeerIdentity(uri.group(1), rank(uri.group(2)));
            }
        }
        if (found == null) {
            throw new CertificateParsingException("names no node: wanted a URI bulla://JOB/rank/N");
        }
        return found;
    }

    private static int rank(String digits) throws CertificateException {
        try {
            return Integer.parseInt(digits);
        } catch (NumberFormatException tooLarge) {
            throw new CertificateParsingException("names no node: rank=" + digits);
        }
    }
}
