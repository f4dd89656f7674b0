//! What a host is told of whole logs.
