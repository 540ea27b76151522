// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Arrays;

/// A signature with the certificates to check it by, as a broadcast carries them. All lengths are checked before
/// memory is taken.
///
/// ```
/// +-- how many certificates, 1 byte --+-- each: length 2 bytes, DER --+-- the signature: the rest --+
/// ```
///
/// @param encoded the certificates with their lengths, the signer's first: what is compared to know a chain again
/// @param chain those certificates
/// @param signature of at least a byte
record ShownChain(byte[] encoded, X509Certificate[] chain, byte[] signature) {

    /// The most certificates.
    static final int MOST = 4;

    /// How a node shows its certificates.
    ///
    /// @throws CertificateException if they are too many or too long
    static byte[] encode(X509Certificate... chain) throws CertificateException {
        if (chain.length < 1 || chain.length > MOST) {
            throw new CertificateException("certificates to sign with: count=" + chain.length + " most=" + MOST);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(chain.length);
        for (X509Certificate each : chain) {
            byte[] der = each.getEncoded();
            if (der.length > 0xffff) {
                throw new CertificateException("certificate is too long to sign with: bytes=" + der.length);
            }
            out.write(der.length >>> Byte.SIZE);
            out.write(der.length);
            out.writeBytes(der);
        }
        return out.toByteArray();
    }

    /// @throws IOException if it is none
    static ShownChain read(byte[] bytes) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        int count = in.hasRemaining() ? in.get() & 0xff : 0;
        if (count < 1 || count > MOST) {
            throw new IOException("signature's certificates: count=" + count + " most=" + MOST);
        }
        X509Certificate[] chain = new X509Certificate[count];
        for (int i = 0; i < count; i++) {
            chain[i] = certificate(in);
        }
        if (!in.hasRemaining()) {
            throw new IOException("signature ends behind its certificates: bytes=" + bytes.length);
        }
        return new ShownChain(
                Arrays.copyOf(bytes, in.position()), chain, Arrays.copyOfRange(bytes, in.position(), bytes.length));
    }

    private static X509Certificate certificate(ByteBuffer in) throws IOException {
        int length = in.remaining() < Short.BYTES ? -1 : in.getShort() & 0xffff;
        if (length < 1 || length > in.remaining()) {
            throw new IOException("signature's certificate ends early: length=" + length + " left=" + in.remaining());
        }
        byte[] der = new byte[length];
        in.get(der);
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        } catch (CertificateException wrong) {
            // its message may quote the bytes
            throw new IOException("signature's certificate is none: bytes=" + length, wrong);
        }
    }
}
