// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import io.bulla.runtime.oob.internal.ranks.Ranks;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Where the nodes of a job listen, as a text says: a line for each node, with its rank and its `host:port`. The
/// ranks are 0 to the number of nodes - 1, in any order; empty lines, and what is behind a `#`, are not read.
///
/// ```
/// # rank host:port
/// 0 login.example:7000
/// 1 10.0.0.11:7000
/// 2 [fd00::12]:7000     # an IPv6 address stands in brackets
/// ```
///
/// Names are looked up once, when the text is read.
public final class PeersFile implements PeerDirectory {

    private static final Pattern LINE = Pattern.compile("(\\d{1,9})\\s+(\\[[^]]+]|[^\\s:]+):(\\d{1,5})");
    private static final int MOST_PORT = 65535;
    private static final int MOST_NODES = 1 << 20;

    private final InetSocketAddress[] addresses;

    private PeersFile(InetSocketAddress... addresses) {
        this.addresses = addresses;
    }

    /// Reads a file.
    ///
    /// @param file in UTF-8
    /// @return the addresses of all nodes
    /// @throws IOException if the file cannot be read, a line is not one, a name is unknown, or a rank is missing
    ///     or there twice; it names the file and the line
    public static PeersFile read(Path file) throws IOException {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException missing) {
            throw new IOException("no such peers file: file=" + file, missing);
        } catch (MalformedInputException binary) {
            throw new IOException("not a peers file, its bytes are not UTF-8: file=" + file, binary);
        } catch (IOException unreadable) {
            throw new IOException("cannot read peers file: file=" + file + " reason=" + unreadable, unreadable);
        }
        return parse(file.toString(), lines);
    }

    /// Reads lines that came another way.
    ///
    /// @param name of the lines' origin, for messages
    /// @param lines without their ends
    /// @return the addresses of all nodes
    /// @throws IOException as [#read]
    public static PeersFile parse(String name, List<String> lines) throws IOException {
        List<InetSocketAddress> found = new ArrayList<>();
        int number = 0;
        for (String line : lines) {
            number++;
            String words = line.replaceFirst("#.*", "").strip();
            if (!words.isEmpty()) {
                add(found, words, ": file=" + name + " line=" + number);
            }
        }
        int missing = found.indexOf(null);
        if (missing >= 0) {
            throw new IOException("rank is missing: file=" + name + " rank=" + missing + " nodes=" + found.size());
        }
        if (found.isEmpty()) {
            throw new IOException("no node in the peers file: file=" + name);
        }
        return new PeersFile(found.toArray(InetSocketAddress[]::new));
    }

    /// The addresses of nodes that are known already, for a launcher that writes such a text.
    ///
    /// @param addresses by rank
    /// @return the addresses of all nodes
    public static PeersFile of(List<InetSocketAddress> addresses) {
        return new PeersFile(addresses.stream().map(Objects::requireNonNull).toArray(InetSocketAddress[]::new));
    }

    /// An address as it stands in a line.
    ///
    /// @param text `host:port`, an IPv6 address in brackets
    /// @return a resolved address
    /// @throws IOException if it is not one, or the name is unknown
    public static InetSocketAddress address(String text) throws IOException {
        List<InetSocketAddress> one = new ArrayList<>();
        add(one, "0 " + text, ": address=" + text);
        return one.getFirst();
    }

    private static void add(List<InetSocketAddress> found, String words, String where) throws IOException {
        Matcher line = LINE.matcher(words);
        if (!line.matches()) {
            throw new IOException("not a rank and host:port" + where);
        }
        int rank = Integer.parseInt(line.group(1));
        int port = Integer.parseInt(line.group(3));
        if (port > MOST_PORT || rank >= MOST_NODES) {
            throw new IOException("rank or port is outside: rank=" + rank + " port=" + port + where);
        }
        String host = line.group(2).replaceAll("[\\[\\]]", "");
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new IOException("unknown host: host=" + host + where);
        }
        while (found.size() <= rank) {
            found.add(null);
        }
        if (found.set(rank, address) != null) {
            throw new IOException("rank is there twice: rank=" + rank + where);
        }
    }

    /// Nodes of the job.
    ///
    /// @return at least 1
    public int size() {
        return addresses.length;
    }

    /// Where a node listens.
    ///
    /// @param rank from 0 on
    /// @return an address
    /// @throws IllegalArgumentException if there is no such rank
    @Override
    public InetSocketAddress addressOf(int rank) {
        return addresses[Ranks.check(rank, addresses.length)];
    }

    /// The text that says the same, by rank, with numeric addresses.
    ///
    /// @return lines without their ends
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (InetSocketAddress address : addresses) {
            String host = address.getAddress().getHostAddress();
            lines.add(lines.size() + " " + (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort());
        }
        return lines;
    }

    @Override
    public String toString() {
        return "peers" + Arrays.toString(addresses);
    }
}
