"""Which environment variables let whoever sets them choose code that a program runs."""

import os
import re
from functools import cache, lru_cache

__all__ = ["clean_path", "loads_code"]

# Each of these makes some program load code, or says where it looks for code.
_LOADER = r"""
      LD_.* | DYLD_.* | GLIBC_TUNABLES | GCONV_PATH | LOCPATH | NLSPATH | MALLOC_TRACE | HOSTALIASES
    | ENV | BASH_ENV | BASH_FUNC_.* | BASH_LOADABLES_PATH | BASH_XTRACEFD | SHELLOPTS | BASHOPTS
    | PS4 | IFS | CDPATH | GLOBIGNORE | ZDOTDIR | FPATH | KSH_ENV
    | PYTHON.* | PERL5.* | PERLLIB | RUBYLIB | RUBYOPT | RUBYSHELL | GEM_HOME | GEM_PATH
    | BUNDLE_GEMFILE | PHPRC | PHP_INI_SCAN_DIR | LUA_.* | R_PROFILE.* | R_ENVIRON.* | R_LIBS.*
    | JULIA_.* | ERL_.* | ELIXIR_ERL_OPTIONS
    | NODE_OPTIONS | NODE_PATH | NODE_REPL_EXTERNAL_MODULE | NODE_EXTRA_CA_CERTS | TS_NODE_.*
    | BUN_.* | DENO_.* | (?i:NPM_CONFIG_.*)
    | JAVA_TOOL_OPTIONS | _JAVA_OPTIONS | JDK_JAVA_OPTIONS | CLASSPATH | MAVEN_OPTS | GRADLE_OPTS
    | DOTNET_STARTUP_HOOKS | DOTNET_ADDITIONAL_DEPS | DOTNET_SHARED_STORE | CORECLR_.* | COR_.*
    | GIT_(?!AUTHOR_|COMMITTER_).*
    | OPENSSL_CONF | OPENSSL_ENGINES | OPENSSL_MODULES
    | MAKEFLAGS | GNUMAKEFLAGS | MAKEFILES | GOFLAGS | RUSTC_WRAPPER | RUSTFLAGS | TAR_OPTIONS
    | RIPGREP_CONFIG_PATH | GREP_OPTIONS | AWKPATH | AWKLIBPATH | LESSOPEN | LESSCLOSE | WGETRC
    | CURL_HOME
    """


@lru_cache(maxsize=1024)
def loads_code(name: str) -> bool:
    """Whether a variable of this name chooses code."""
    return _loader().fullmatch(name) is not None


@cache
def _loader() -> re.Pattern[str]:
    # Slow to compile, and most events start no program.
    return re.compile(_LOADER, re.VERBOSE | re.DOTALL)


def clean_path(path: str) -> str:
    """Only absolute entries: any other would find programs in the directory we run in."""
    return ":".join(entry for entry in path.split(":") if entry.startswith("/")) or os.defpath
