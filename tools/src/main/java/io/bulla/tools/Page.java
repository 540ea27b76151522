// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.HeadingAnchorExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.text.TextContentRenderer;

/// A document of the project's, and the page that it becomes.
///
/// @param source the Markdown file
/// @param target the page, relative to the site's folder
/// @param title its first heading
record Page(Path source, Path target, String title) {

    private static final List<Extension> EXTENSIONS =
            List.of(TablesExtension.create(), HeadingAnchorExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();
    private static final HtmlRenderer HTML =
            HtmlRenderer.builder().extensions(EXTENSIONS).build();

    private static final String STYLE = """
            body{font:16px/1.5 system-ui,sans-serif;margin:0;display:flex;color:#222;background:#fff}
            nav{flex:0 0 15rem;padding:1rem;background:#f4f1ea;min-height:100vh;box-sizing:border-box;font-size:14px}
            nav a{display:block;padding:.15rem 0;color:#543}
            nav a.here{font-weight:bold}
            main{flex:1;min-width:0;max-width:60rem;padding:1rem 2rem}
            pre{overflow:auto;background:#f6f6f4;padding:.7rem;font-size:13px;line-height:1.4}
            code{font-family:ui-monospace,monospace;font-size:.9em}
            table{border-collapse:collapse;display:block;overflow:auto;font-size:14px}
            td,th{border:1px solid #ccc;padding:.25rem .6rem;text-align:left;vertical-align:top}
            img{max-width:100%}
            @media(max-width:50rem){body{display:block}nav{min-height:0}}
            """;

    static Page of(Path root, Path source) throws IOException {
        Node document = PARSER.parse(Files.readString(source));
        String[] title = {source.getFileName().toString()};
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                if (heading.getLevel() == 1) {
                    title[0] = TextContentRenderer.builder().build().render(heading);
                }
            }
        });
        return new Page(source, Path.of(targetOf(root, source)), title[0]);
    }

    /// What a file of the repository is called in the site.
    static String targetOf(Path root, Path file) {
        String path = root.relativize(file).toString().replace('\\', '/');
        return path.equals("README.md") ? "index.html" : path.replaceFirst("\\.md$", ".html");
    }

    /// @param all for the list beside the text
    /// @param resolve what a link of the document is in the site
    String html(List<Page> all, UnaryOperator<String> resolve) throws IOException {
        Node document = PARSER.parse(Files.readString(source));
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                link.setDestination(resolve.apply(link.getDestination()));
                visitChildren(link);
            }

            @Override
            public void visit(Image image) {
                image.setDestination(resolve.apply(image.getDestination()));
                visitChildren(image);
            }
        });
        return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                + "<meta name=\"viewport\" content=\"width=device-width\"><title>" + escaped(title)
                + "</title><style>\n"
                + STYLE + "</style></head>\n<body><nav>\n" + navigation(all) + "</nav><main>\n" + HTML.render(document)
                + "</main></body></html>\n";
    }

    private String navigation(List<Page> all) {
        Path here = Path.of("/").resolve(target).getParent();
        StringBuilder links = new StringBuilder();
        for (Page page : all) {
            links.append(page.equals(this) ? "<a class=\"here\" href=\"" : "<a href=\"")
                    .append(here.relativize(Path.of("/").resolve(page.target()))
                            .toString()
                            .replace('\\', '/'))
                    .append("\">")
                    .append(escaped(page.title()))
                    .append("</a>\n");
        }
        return links.append("<a href=\"")
                .append(here.relativize(Path.of("/api/index.html")).toString().replace('\\', '/'))
                .append("\">API</a>\n")
                .toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
