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
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

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

    static Page of(Path root, Path source) throws IOException {
        Node document = PARSER.parse(Files.readString(source));
        String[] title = {source.getFileName().toString()};
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                if (heading.getLevel() == 1) {
                    title[0] = words(heading);
                }
            }
        });
        return new Page(source, Path.of(targetOf(root, source)), title[0]);
    }

    /// The text of a heading, code among it.
    private static String words(Heading heading) {
        StringBuilder words = new StringBuilder();
        heading.accept(new AbstractVisitor() {
            @Override
            public void visit(Text text) {
                words.append(text.getLiteral());
            }

            @Override
            public void visit(Code code) {
                words.append(code.getLiteral());
            }
        });
        return words.toString();
    }

    /// What a file of the repository is called in the site.
    static String targetOf(Path root, Path file) {
        String path = root.relativize(file).toString().replace('\\', '/');
        return path.equals("README.md") ? "index.html" : path.replaceFirst("\\.md$", ".html");
    }

    /// The document's text as HTML, without what stands around it.
    ///
    /// @param resolve what a link of the document is in the site
    String html(UnaryOperator<String> resolve) throws IOException {
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
        return HTML.render(document);
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
