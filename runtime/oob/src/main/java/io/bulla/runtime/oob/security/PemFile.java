// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/// Reads certificates and keys from text (RFC 7468).
final class PemFile {

    private static final String KEY = "PRIVATE KEY";
    private static final String[] ALGORITHMS = {"EC", "RSA", "EdDSA"};

    private PemFile() {}

    /// @return at least one
    static List<X509Certificate> certificates(Path file) throws IOException {
        List<X509Certificate> found = new ArrayList<>();
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            for (Certificate each : factory.generateCertificates(new ByteArrayInputStream(SecretFile.bytes(file)))) {
                found.add((X509Certificate) each);
            }
        } catch (CertificateException wrong) {
            throw new IOException("not certificates in PEM: file=" + file, wrong);
        }
        if (found.isEmpty()) {
            throw new IOException("no certificate in the file: file=" + file);
        }
        return found;
    }

    /// @return a key of PKCS #8 that is not encrypted
    /// @throws IOException that tells nothing of what is in the file
    static PrivateKey key(Path file) throws IOException {
        byte[] bytes = SecretFile.secret(file);
        byte[] text = new byte[0];
        byte[] der = new byte[0];
        try {
            String begin = "-----BEGIN " + KEY + "-----";
            int from = indexOf(bytes, begin, 0);
            int to = from < 0 ? -1 : indexOf(bytes, "-----END " + KEY + "-----", from);
            if (to < 0) {
                throw new IOException("no key in the file, wanted " + begin + ": file=" + file);
            }
            text = Arrays.copyOfRange(bytes, from + begin.length(), to);
            der = Base64.getMimeDecoder().decode(text);
            return key(file, new PKCS8EncodedKeySpec(der));
        } catch (IllegalArgumentException notBase64) {
            // its message would quote the file
            throw new IOException("not a key in PEM: file=" + file);
        } finally {
            Arrays.fill(bytes, (byte) 0);
            Arrays.fill(text, (byte) 0);
            Arrays.fill(der, (byte) 0);
        }
    }

    /// In bytes that can be overwritten, which those of a String cannot.
    private static int indexOf(byte[] bytes, String words, int from) {
        byte[] wanted = words.getBytes(StandardCharsets.US_ASCII);
        for (int at = from; at + wanted.length <= bytes.length; at++) {
            if (Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
                return at;
            }
        }
        return -1;
    }

    private static PrivateKey key(Path file, PKCS8EncodedKeySpec bytes) throws IOException {
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(bytes);
            } catch (InvalidKeySpecException another) {
                // the next one, perhaps
            } catch (GeneralSecurityException everyJdkHasIt) {
                throw new IllegalStateException(everyJdkHasIt);
            }
        }
        throw new IOException("not a key of PKCS #8 (" + String.join(", ", ALGORITHMS) + "): file=" + file);
    }
}
