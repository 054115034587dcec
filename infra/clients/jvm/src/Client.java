// The protocol of docs/client.md, and what is the same for every driver of the JVM.

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

abstract class Client {
    final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    final ExecutorService workers = Executors.newCachedThreadPool(); // the driver limits, not the threads
    final ScheduledExecutorService deadlines = Executors.newSingleThreadScheduledExecutor();

    /** Connect, and make what is needed; the options are the client's own. */
    abstract void open(Connection at, String namespace, JsonObject options) throws Exception;

    /** Do one operation, and call `sends` when its first request goes to the server. */
    abstract Done work(Operation operation) throws Exception;

    /** What an error of `work` means; `cause` is what its Java exceptions say, or null. */
    abstract Failure failure(Throwable error, String cause);

    /** Whether a write took effect; of one that did not, and of a read, what is stored, or null. */
    record Done(boolean written, String stored) {
        static final Done WRITTEN = new Done(true, null);
    }

    /** `known`: the operation had no effect, since it was not sent or the server says so. */
    record Failure(String code, String cause, boolean known) {}

    /** Where the database is; the port of an address without one is -1. `tls` names files in PEM form. */
    record Connection(String uri, String username, String password, String database, JsonObject tls) {
        Stream<URI> addresses() {
            return Stream.of(URI.create(uri).getRawAuthority().split(",")).map(each -> URI.create("x://" + each));
        }

        boolean encrypted() {
            return flag(tls, "enabled");
        }

        /** Whether any certificate and name is accepted. */
        boolean insecure() {
            return flag(tls, "insecure_skip_verify");
        }

        /** Have `builder` trust the authority and show our own certificate. */
        void certificates(SslContextBuilder builder) {
            if (insecure()) {
                builder.trustManager(InsecureTrustManagerFactory.INSTANCE);
            } else if (!text(tls, "ca_file").isEmpty()) {
                builder.trustManager(file("ca_file"));
            }
            if (!text(tls, "cert_file").isEmpty()) {
                var passphrase = text(tls, "key_passphrase");
                var key = file(text(tls, "key_file").isEmpty() ? "cert_file" : "key_file");
                builder.keyManager(file("cert_file"), key, passphrase.isEmpty() ? null : passphrase);
            }
        }

        SSLContext context() throws SSLException {
            var builder = SslContextBuilder.forClient().sslProvider(SslProvider.JDK);
            certificates(builder);
            return ((JdkSslContext) builder.build()).context();
        }

        File file(String name) {
            var file = new File(text(tls, name));
            if (!file.canRead()) {
                throw new IllegalArgumentException("tls." + name + ": cannot read " + file);
            }
            return file;
        }
    }

    /** The deadline of an operation passed before it was sent. */
    static final class Late extends Exception {}

    final class Operation {
        final JsonObject request;
        final boolean write;
        final String key;
        final AtomicBoolean answered = new AtomicBoolean();
        volatile boolean sent;

        Operation(JsonObject request) {
            this.request = request;
            write = text("do").equals("write");
            key = text("key");
        }

        String text(String name) {
            return request.get(name).getAsString();
        }

        long sequence() {
            return request.get("sequence").getAsLong();
        }

        long deadlineMs() {
            return request.get("deadline_ms").getAsLong();
        }

        /** Whether the write expects that nothing is stored. */
        boolean expectsNothing() {
            return request.has("expect") && request.getAsJsonObject("expect").has("missing");
        }

        /** The first and last sequence, one of which the write expects; null if it does not. */
        long[] range() {
            if (!request.has("expect") || expectsNothing()) {
                return null;
            }
            var expect = request.getAsJsonObject("expect");
            return new long[] {expect.get("first").getAsLong(), expect.get("last").getAsLong()};
        }

        void sends() throws Late {
            if (answered.get()) {
                throw new Late();
            }
            sent = true;
        }

        void start() {
            var deadline = deadlines.schedule(
                () -> failed(new Failure(null, sent ? "client-timeout-total" : "pool-exhausted", false)),
                deadlineMs() * 98 / 100, TimeUnit.MILLISECONDS); // an answer takes a moment
            workers.execute(() -> {
                try {
                    var done = work(this);
                    var answer = answer(write && !done.written ? "refused" : "ok");
                    if (!write || !done.written) {
                        answer.addProperty("value", done.stored);
                    }
                    say(answer);
                } catch (Exception error) {
                    failed(failure(error, causeOf(error)));
                } finally {
                    deadline.cancel(false);
                }
            });
        }

        void failed(Failure failure) {
            var answer = answer(write && sent && !failure.known ? "in_doubt" : "failed");
            if (failure.code != null) {
                answer.addProperty("code", failure.code);
            }
            if (failure.cause != null) {
                answer.addProperty("cause", failure.cause);
            }
            say(answer);
        }

        JsonObject answer(String end) {
            var answer = new JsonObject();
            answer.add("id", request.get("id"));
            answer.addProperty("end", end);
            return answer;
        }

        void say(JsonObject answer) {
            if (answered.compareAndSet(false, true)) {
                line(answer);
            }
        }
    }

    /** What the exceptions of Java behind an error say of the connection; null if they say nothing. */
    static String causeOf(Throwable error) {
        for (var each = error; each != null; each = each.getCause()) {
            var words = String.valueOf(each.getMessage()).toLowerCase();
            var timedOut = words.contains("timed out") || words.contains("timeout");
            if (each instanceof ConnectException) {
                return timedOut ? "client-timeout-connect" : "connect-refused";
            }
            if (each instanceof SocketTimeoutException) {
                return words.contains("connect") ? "client-timeout-connect" : "client-timeout-read";
            }
            if (each instanceof UnknownHostException || each instanceof NoRouteToHostException) {
                return "no-node";
            }
            if (each instanceof SSLException) {
                return "auth-tls";
            }
            if (each instanceof SocketException || each instanceof EOFException || each instanceof ClosedChannelException
                    || each instanceof IOException && (words.contains("reset") || words.contains("broken pipe"))) {
                return "connection-reset";
            }
        }
        return null;
    }

    synchronized void line(JsonObject answer) {
        out.println(answer);
    }

    void serve(String name) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null;) {
            var request = JsonParser.parseString(line).getAsJsonObject();
            switch (request.get("do").getAsString()) {
                case "close" -> System.exit(0);
                case "open" -> opened(name, request);
                default -> new Operation(request).start();
            }
        }
        System.exit(0);
    }

    void opened(String name, JsonObject request) {
        var at = request.getAsJsonObject("connection");
        var options = request.getAsJsonObject("options");
        var answer = new JsonObject();
        try {
            var tls = at.get("tls") instanceof JsonObject given ? given : new JsonObject();
            var connection = new Connection(
                text(at, "uri"), text(at, "username"), text(at, "password"), text(at, "database"), tls);
            open(connection, text(request, "namespace"), options);
            answer.addProperty("opened", name);
            answer.add("settings", options);
        } catch (Exception error) {
            error.printStackTrace();
            answer.addProperty("error", words(error));
        }
        line(answer);
    }

    /** What an error and those behind it say, each thing once: the driver's own is often a general one. */
    static String words(Throwable error) {
        var said = new LinkedHashSet<String>();
        for (var each = error; each != null; each = each.getCause()) {
            var words = each.getMessage() != null ? each.getMessage() : each.getClass().getSimpleName();
            if (said.stream().noneMatch(earlier -> earlier.contains(words))) {
                said.add(words);
            }
        }
        return String.join(": ", said);
    }

    static boolean flag(JsonObject from, String name) {
        return from.has(name) && from.get(name).getAsBoolean();
    }

    /** A text that is there, else "". */
    static String text(JsonObject from, String name) {
        JsonElement value = from.get(name);
        return value == null || value.isJsonNull() ? "" : value.getAsString();
    }
}
