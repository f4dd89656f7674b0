//! `declare_provider!`: everything a plugin exports, written once.

#![expect(unsafe_code, reason = "the header that loaders look up is made by hand")]

use std::marker::PhantomData;

use abi_stable::library::RootModuleResult;
use abi_stable::std_types::RStr;

pub use abi_stable::library::{CheckTypeLayout, LibHeader};

use crate::error::Kind;
use crate::guard::guard;
use crate::provider::{DetectRequest, ListRequest, Provider, ReadRequest};
use crate::sink::{ListSink, Sink, fail, fail_list};
use crate::table::{ListView, ProviderModule, ProviderRef, SinkView};
use crate::view::{DetectRequestView, ListRequestView, OutcomeView, ReadRequestView};

/// The name under which abi_stable's loaders look a root module up (`ROOT_MODULE_LOADER_NAME`), as the literal
/// that an attribute needs; a test holds the two together.
#[doc(hidden)]
#[macro_export]
macro_rules! __root_symbol {
    () => {
        "_1as_0lib_1header_0root_bmodule_bloader"
    };
}

/// Declares what the plugin is, and exports it. Once, at the top of the crate.
///
/// ```
/// # use toolpath_plugin_api::{Provider, PluginError, ReadRequest, Sink, Summary};
/// #[derive(Default)]
/// struct Demo;
///
/// impl Provider for Demo {
///     fn read(&self, _: &ReadRequest<'_>, _: &mut Sink<'_>) -> Result<Summary, PluginError> {
///         Err(PluginError::new("holds no session"))
///     }
/// }
///
/// toolpath_plugin_api::declare_provider! {
///     provider: Demo,
///     name: "demo",
///     provider_id: "demo",
///     display_name: "Demo",
///     harness: "Demo", versions: ["1"],
///     env: ["DEMO_HOME"],
///     roots: ["${DEMO_HOME:-~/.demo}/sessions"],
///     companions: ["{stem}/**"],
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! declare_provider {
    (
        provider: $provider:ty,
        name: $name:literal,
        provider_id: $provider_id:literal,
        display_name: $display_name:literal,
        harness: $harness:literal, versions: [$($version:literal),* $(,)?],
        env: [$($env:literal),* $(,)?],
        roots: [$($root:literal),* $(,)?],
        companions: [$($companion:literal),* $(,)?] $(,)?
    ) => {
        const _: () = {
            // Each text is checked to need no escape, so that the JSON can be put together at compile time.
            const _: &[&str] = &[
                $crate::manifest::plain($name),
                $crate::manifest::plain($provider_id),
                $crate::manifest::plain($display_name),
                $crate::manifest::plain($harness),
                $($crate::manifest::plain($version),)*
                $($crate::manifest::plain($env),)*
                $($crate::manifest::plain($root),)*
                $($crate::manifest::plain($companion),)*
            ];
            const JSON: &str = concat!(
                "{\"name\":\"", $name,
                "\",\"provider_id\":\"", $provider_id,
                "\",\"version\":\"", env!("CARGO_PKG_VERSION"),
                "\",\"display_name\":\"", $display_name,
                "\",\"harness\":{\"name\":\"", $harness,
                "\",\"versions\":", $crate::__json_list!($($version),*),
                "},\"env\":", $crate::__json_list!($($env),*),
                ",\"roots\":", $crate::__json_list!($($root),*),
                ",\"companions\":", $crate::__json_list!($($companion),*),
                "}",
            );

            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,.provman"))]
            #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".provman"))]
            static MANIFEST: [u8; $crate::manifest::BLOCK_SIZE] = $crate::manifest::block(JSON);

            struct Declared;
            impl $crate::export::Declaration for Declared {
                type Provider = $provider;
                const JSON: &'static str = JSON;
            }

            #[unsafe(export_name = $crate::__root_symbol!())]
            static ROOT: $crate::export::LibHeader = $crate::export::header::<Declared>();
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __json_list {
    () => { "[]" };
    ($first:literal $(, $rest:literal)*) => {
        concat!("[\"", $first, "\"" $(, ",\"", $rest, "\"")*, "]")
    };
}

/// What the macro knows of a plugin.
#[doc(hidden)]
pub trait Declaration {
    type Provider: Provider;
    const JSON: &'static str;
}

/// The header through which a host finds the root module.
#[doc(hidden)]
pub const fn header<D: Declaration>() -> LibHeader {
    // SAFETY: the constructor returns the erased root module of the type named here.
    unsafe { LibHeader::from_constructor::<ProviderRef>(construct::<D>, CheckTypeLayout::Yes) }
}

extern "C" fn construct<D: Declaration>() -> RootModuleResult {
    abi_stable::library::__call_root_module_loader(root::<D>)
}

fn root<D: Declaration>() -> ProviderRef {
    use abi_stable::prefix_type::WithMetadata;

    struct Module<D>(PhantomData<D>);
    impl<D: Declaration> Module<D> {
        const VALUE: &'static WithMetadata<ProviderModule> = &WithMetadata::new(ProviderModule {
            info: info::<D>,
            sessions: sessions::<D>,
            detect: detect::<D>,
            read: read::<D>,
        });
    }
    ProviderRef(Module::<D>::VALUE.static_as_prefix())
}

extern "C" fn info<D: Declaration>() -> RStr<'static> {
    RStr::from(D::JSON)
}

extern "C" fn read<D: Declaration>(request: &ReadRequestView<'_>, sink: &SinkView<'_>) -> OutcomeView {
    let outcome = guard(|| {
        let request = ReadRequest::new(request);
        D::Provider::default().read(&request, &mut Sink::new(sink, &request))
    });
    let ended = |code| OutcomeView { code, records: 0 };
    match outcome {
        Ok(Ok(summary)) => OutcomeView { code: OutcomeView::DONE, records: summary.records },
        Ok(Err(err)) => match err.kind {
            Kind::Stopped => ended(OutcomeView::STOPPED),
            Kind::Failed(message) => {
                fail(sink, &message);
                ended(OutcomeView::FAILED)
            }
        },
        Err(panic) => {
            fail(sink, &panic);
            ended(OutcomeView::PANICKED)
        }
    }
}

extern "C" fn sessions<D: Declaration>(request: &ListRequestView<'_>, list: &ListView<'_>) -> OutcomeView {
    let outcome = guard(|| D::Provider::default().sessions(&ListRequest::new(request), &mut ListSink::new(list)));
    let code = match outcome {
        Ok(Ok(())) => OutcomeView::DONE,
        Ok(Err(err)) => match err.kind {
            Kind::Stopped => OutcomeView::STOPPED,
            Kind::Failed(message) => {
                fail_list(list, &message);
                OutcomeView::FAILED
            }
        },
        Err(panic) => {
            fail_list(list, &panic);
            OutcomeView::PANICKED
        }
    };
    OutcomeView { code, records: 0 }
}

extern "C" fn detect<D: Declaration>(request: &DetectRequestView<'_>) -> u32 {
    // A plugin that panics while it looks does not recognise what it looks at.
    guard(|| D::Provider::default().detect(&DetectRequest::new(request))).map_or(0, u32::from)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exported_symbol_is_the_one_loaders_look_up() {
        assert_eq!(crate::__root_symbol!(), abi_stable::library::ROOT_MODULE_LOADER_NAME);
    }
}
