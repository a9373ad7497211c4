//! The service without a network, for tests: requests use the same routes, bodies and models.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use noregret_stream::Fault;

use crate::app::App;
use crate::safety::keys::Keys;
use crate::{Limits, open, router};

/// See the [module](self).
pub struct Trial {
    app: Arc<App>,
    routes: TowerToHyperService<Router>,
    runtime: tokio::runtime::Runtime,
}

impl Trial {
    /// Opens the models in the folder `dir`.
    ///
    /// # Errors
    /// If reading or writing fails.
    pub fn open(dir: &Path, limits: &Limits) -> Result<Self, Fault> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let app = Arc::new(open(dir, limits, Keys::default(), None, None)?);
        while app.hub.recover_next() {}
        let routes = TowerToHyperService::new(router(Arc::clone(&app)));
        Ok(Self { app, routes, runtime })
    }

    /// The response to a request: status and body. `None` for an invalid request.
    pub fn ask(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .body(Body::from(body.to_vec()))
            .ok()?;
        self.runtime.block_on(async {
            let Ok(response) = self.routes.call(request).await;
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
            Some((status, body.to_vec()))
        })
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.app.hub.stop();
    }
}
