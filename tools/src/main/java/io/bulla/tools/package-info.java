/// What `./check` runs that is not a test.
///
/// - [ApiDump][io.bulla.tools.ApiDump] holds the public API of a module against the text that is committed.
package io.bulla.tools;
