// The protocol of docs/client.md: `java Reference.java`, from Java 11 on; put your own database where RECORDS is.
// Java has no JSON of its own. What is read here must be valid, and of its literals whole numbers alone have a value.
import java.io.*;
import java.util.*;
import java.util.regex.*;

class Reference {
    static final Pattern TOKEN = Pattern.compile("\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"|[^\\s\"{}\\[\\],:]++|[^\\s,:]");
    static final Map<Object, Map<?, ?>> RECORDS = new HashMap<>(); // key -> the write that made it
    static final String ESCAPED = "bfnrt\"\\/", UNESCAPED = "\b\f\n\r\t\"\\/";

    static Object read(Matcher in) {
        char first = in.find() ? in.group().charAt(0) : '}';
        if (first == '}' || first == ']') return in; // no value, so the end of one
        if (first == '"') return Pattern.compile("\\\\(u(.{4})|.)").matcher(in.group(1)).replaceAll(e -> Matcher.quoteReplacement(
            "" + (char) (e.group(2) == null ? UNESCAPED.charAt(ESCAPED.indexOf(e.group(1))) : Integer.parseInt(e.group(2), 16))));
        if (first != '{' && first != '[') return in.group().matches("-?\\d+") ? Long.valueOf(in.group()) : null;
        Map<Object, Object> entries = new HashMap<>(); // those of an array by their indexes
        for (Object each; (each = read(in)) != in;) entries.put(first == '{' ? each : entries.size(), first == '{' ? read(in) : each);
        return entries;
    }
    static boolean fits(Map<?, ?> old, Map<?, ?> write, Map<?, ?> expect) {
        if (expect == null || expect.containsKey("missing")) return expect == null || old == null;
        return old != null && old.get("writer").equals(write.get("writer"))
            && (Long) expect.get("first") <= (Long) old.get("sequence")
            && (Long) old.get("sequence") <= (Long) expect.get("last");
    }
    public static void main(String[] arguments) throws IOException {
        for (String line : (Iterable<String>) new BufferedReader(new InputStreamReader(System.in, "UTF-8")).lines()::iterator) {
            Map<?, ?> r = (Map<?, ?>) read(TOKEN.matcher(line)), old = RECORDS.get(r.get("key"));
            boolean fits = fits(old, r, (Map<?, ?>) r.get("expect")); // a read expects nothing
            if (fits && r.get("do").equals("write")) RECORDS.put(r.get("key"), r);
            String value = old == null ? "null" : old.get("value").toString().chars().mapToObj(c -> String.format("\\u%04x", c))
                .collect(java.util.stream.Collectors.joining("", "\"", "\"")); // valid, though long
            if (r.get("do").equals("close")) return;
            System.out.println(r.get("do").equals("open") ? "{\"opened\": \"reference in Java\", \"settings\": {}}" : String.format(
                "{\"id\": %s, \"end\": \"%s\", \"value\": %s}", r.get("id"), fits ? "ok" : "refused", value));
        }
    }
}
