//! A function of a test that changes what is compared.

use std::sync::Arc;

use super::SessionBuilder;
use crate::cassette::Request;
use crate::serve::replayer::Compared;

impl SessionBuilder {
    /// Compares requests as a function leaves them: each one that was recorded, and each that comes in. The
    /// live server gets what the client sent, and the cassette keeps it. Secrets of what was recorded are
    /// placeholders. Messages over a WebSocket are compared as they are.
    ///
    /// # Example: the region in a path does not count
    ///
    /// ```
    /// # use std::error::Error;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn Error>> {
    /// use retape::{Mode, Session};
    ///
    /// let session = Session::builder("openai/rest")
    ///     .mode(Mode::Replay)
    ///     .compare_as(|request| request.path = request.path.replace("/eu/", "/"))
    ///     .start()
    ///     .await?;
    ///
    /// let answer = reqwest::get(format!("{}/eu/v1/models", session.url())).await?;
    ///
    /// assert_eq!(answer.status(), 200);
    /// session.finish().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn compare_as(mut self, change: impl Fn(&mut Request) + Send + Sync + 'static) -> Self {
        self.compared = Some(Compared(Arc::new(change)));
        self
    }
}
