// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON: objects are maps, arrays are lists, numbers are doubles (RFC 8259). */
final class Json {

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skip();
        if (json.at != text.length()) {
            throw json.wrong();
        }
        return value;
    }

    /** What is below names, one after the other, or {@code null}. */
    static Object at(Object value, String... names) {
        for (String name : names) {
            value = value instanceof Map<?, ?> map ? map.get(name) : null;
        }
        return value;
    }

    /** A text as JSON has it. */
    static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                quoted.append('\\').append(each);
            } else if (each < ' ') {
                quoted.append(String.format("\\u%04x", (int) each));
            } else {
                quoted.append(each);
            }
        }
        return quoted.append('"').toString();
    }

    private Object value() {
        skip();
        return switch (peek()) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> object = new LinkedHashMap<>();
        at++;
        while (!ends('}', object.isEmpty())) {
            skip();
            String name = string();
            skip();
            take(':');
            object.put(name, value());
        }
        return object;
    }

    private List<Object> array() {
        List<Object> array = new ArrayList<>();
        at++;
        while (!ends(']', array.isEmpty())) {
            array.add(value());
        }
        return array;
    }

    /** Takes the end, or the comma before the next. */
    private boolean ends(char end, boolean isFirst) {
        skip();
        if (peek() == end) {
            at++;
            return true;
        }
        if (!isFirst) {
            take(',');
        }
        return false;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        take('"');
        while (peek() != '"') {
            char each = text.charAt(at++);
            if (each != '\\') {
                string.append(each);
                continue;
            }
            char escaped = peek();
            at++;
            switch (escaped) {
                case 'n' -> string.append('\n');
                case 't' -> string.append('\t');
                case 'r' -> string.append('\r');
                case 'b' -> string.append('\b');
                case 'f' -> string.append('\f');
                case 'u' -> {
                    string.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                }
                default -> string.append(escaped);
            }
        }
        at++;
        return string.toString();
    }

    private Double number() {
        int begin = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return Double.valueOf(text.substring(begin, at));
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private void take(char wanted) {
        if (peek() != wanted) {
            throw wrong();
        }
        at++;
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at);
    }

    private void skip() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("not JSON: at=" + at + " of=" + text.length());
    }
}
