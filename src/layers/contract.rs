//! What a layer that calls at once promises `tower`, checked around a mock service.

use std::task::Poll;

use tower::{BoxError, Layer, Service};
use tower_test::mock::{self, Mock};

/// Checks that `layer` is ready when the service inside is and no sooner, that it hands on errors of
/// readiness, and that each clone has a readiness of its own. `request` makes one that passes.
pub(super) fn holds<L, R, A>(layer: &L, request: impl Fn() -> R)
where
    L: Layer<Mock<R, A>>,
    L::Service: Service<R, Error = BoxError> + Clone,
{
    let (inner, mut handle) = mock::pair();
    let mut service = mock::Spawn::new(layer.layer(inner));
    handle.allow(0);
    assert!(service.poll_ready().is_pending());
    handle.allow(1);
    assert!(matches!(service.poll_ready(), Poll::Ready(Ok(()))));

    // The clone does not inherit readiness, and does not take it away.
    let mut clone = service.clone();
    handle.allow(0);
    assert!(clone.poll_ready().is_pending());
    assert!(matches!(service.poll_ready(), Poll::Ready(Ok(()))));
    // The mock panics if it is called without having been ready.
    let first = service.call(request());
    handle.allow(1);
    assert!(matches!(clone.poll_ready(), Poll::Ready(Ok(()))));
    let second = clone.call(request());
    for _ in 0..2 {
        assert!(matches!(handle.poll_request(), Poll::Ready(Some(_))));
    }
    drop((first, second));

    handle.send_error("out of order");
    let Poll::Ready(Err(error)) = service.poll_ready() else {
        panic!("the error of the service inside is not handed on");
    };
    assert_eq!(error.to_string(), "out of order");
}
