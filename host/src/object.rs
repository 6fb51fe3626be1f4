//! Objects on HTTP servers and in S3.

use crate::error::Error;
use crate::read_at::ReadAt;
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, GetOptions, ObjectStore, RetryConfig};
use std::io;
use std::ops::Range;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Times that a request is repeated after a failure of the network or the server.
const RETRIES: usize = 3;

/// The longest time from the first request to the last repetition.
const RETRY_TIME: Duration = Duration::from_secs(30);

/// An object on an HTTP server that reads ranges, or in S3.
///
/// ```no_run
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Decompressor, Part};
/// use ferrosz::stream::{Object, StreamAt};
///
/// let mut stream = StreamAt::open(Object::open("https://example.org/t.fsz")?)?;
/// let part = Part::Box(vec![0..1, 100..164, 200..264]);
/// let values: Vec<f32> = stream.decompress_part(&Decompressor::new(), &part)?;
/// # Ok::<(), ferrosz::Error>(())
/// ```
#[derive(Debug)]
pub struct Object {
    store: Box<dyn ObjectStore>,
    path: Path,
    runtime: Runtime,
}

impl Object {
    /// An object at `http://HOST/PATH`, `https://HOST/PATH` or `s3://BUCKET/KEY`. Nothing is read yet.
    ///
    /// Region, endpoint and credentials of S3 come from the environment variables that the tools of AWS have, such as
    /// `AWS_REGION`, `AWS_ENDPOINT` and `AWS_ACCESS_KEY_ID`. Without credentials there, requests are not signed, as public
    /// buckets take them; `AWS_SKIP_SIGNATURE=false` takes those of a machine's role instead. `AWS_ALLOW_HTTP=true` allows
    /// an endpoint without encryption.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the URL cannot be used.
    pub fn open(url: &str) -> Result<Self, Error> {
        let open = || -> io::Result<Self> {
            let (scheme, rest) = url
                .split_once("://")
                .ok_or_else(|| bad(url, "has no scheme"))?;
            if rest.contains(['?', '#']) {
                return Err(bad(url, "has a query or a fragment"));
            }
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            if host.is_empty() || path.is_empty() {
                return Err(bad(
                    url,
                    "names no object: give a host or bucket, and a path",
                ));
            }
            let store: Box<dyn ObjectStore> = match scheme {
                "http" | "https" => Box::new(
                    HttpBuilder::new()
                        .with_url(format!("{scheme}://{host}"))
                        .with_client_options(ClientOptions::new().with_allow_http(scheme == "http"))
                        .with_retry(retry())
                        .build()?,
                ),
                "s3" => {
                    let is_signed = SIGNING.iter().any(|name| std::env::var_os(name).is_some());
                    let builder = AmazonS3Builder::from_env().with_bucket_name(host);
                    let builder = match is_signed {
                        true => builder,
                        false => builder.with_skip_signature(true),
                    };
                    Box::new(builder.with_retry(retry()).build()?)
                }
                _ => return Err(bad(url, "is none of http, https and s3")),
            };
            Ok(Self {
                store,
                path: Path::from_url_path(path).map_err(io::Error::other)?,
                runtime: Builder::new_current_thread().enable_all().build()?,
            })
        };
        open().map_err(Error::io("open the URL"))
    }

    /// Waits for requests on a thread of its own, as the caller's may belong to another runtime.
    fn wait<T: Send>(
        &self,
        requests: impl Future<Output = object_store::Result<T>> + Send,
    ) -> io::Result<T> {
        let wait = || self.runtime.block_on(requests);
        let waited = thread::scope(|scope| scope.spawn(wait).join());
        let answer = waited.map_err(|_| io::Error::other("a request panicked"))?;
        Ok(answer?)
    }
}

/// Environment variables with credentials for S3, or with a decision about them.
const SIGNING: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_METADATA_ENDPOINT",
    "AWS_SKIP_SIGNATURE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
];

fn retry() -> RetryConfig {
    RetryConfig {
        max_retries: RETRIES,
        retry_timeout: RETRY_TIME,
        ..RetryConfig::default()
    }
}

fn bad(url: &str, reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("'{url}' {reason}"))
}

impl ReadAt for Object {
    fn byte_len(&self) -> io::Result<u64> {
        let head = GetOptions::new().with_head(true);
        Ok(self.wait(self.store.get_opts(&self.path, head))?.meta.size)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let found = self.wait(self.store.get_ranges(&self.path, ranges))?;
        Ok(found.iter().map(|bytes| bytes.to_vec()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_name_no_object_are_refused() {
        for (url, word) in [
            ("t.fsz", "scheme"),
            ("ftp://host/t.fsz", "none of"),
            ("https://host", "no object"),
            ("s3://bucket/", "no object"),
            ("https://host/t.fsz?key=1", "query"),
        ] {
            let refusal = Object::open(url).expect_err(url).to_string();
            assert!(refusal.contains(word) && refusal.contains(url), "{refusal}");
        }
    }
}
