"""Tokens of code hosts, package registries and what builds and checks code."""

from hookline.secrets.checks import bech32, crc, mixed, pem, random
from hookline.secrets.forms import HEX, START, URLSAFE, UUID, Rule, prefixed

__all__ = ["CODE"]

CODE = (
    # Longer than one token, so ahead of all that might be found inside.
    Rule(
        "private-key",
        r"-----BEGIN[A-Z0-9 ]{0,30} PRIVATE KEY(?: BLOCK)?-----"
        r"(?:-?[A-Za-z0-9+/=\s\\:,.()@_])*"
        r"(?:-----END[A-Z0-9 ]{0,30} PRIVATE KEY(?: BLOCK)?-----)?",
        ("PRIVATE KEY",),
        long=True,
        check=pem,
    ),
    Rule("age-key", r"AGE-SECRET-KEY-1[0-9A-Za-z]{20,}", ("AGE-SECRET-KEY-1",), check=bech32),
    Rule(
        "github",
        r"gh[opsur]_[A-Za-z0-9_]{20,}|github_pat_[A-Za-z0-9_]{20,}",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        check=crc,
    ),
    Rule(
        "gitlab",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas|soat|imt|ffct|wt)-(?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-]){20,}",
        (
            *("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glagent-", "gloas-"),
            *("glsoat-", "glimt-", "glffct-", "glwt-"),
        ),
    ),
    prefixed("gitlab-runner", "GR1348941", body=URLSAFE),
    prefixed("npm", "npm_", size="30,", check=crc, inside=False),
    prefixed("pypi", "pypi-AgE", body=URLSAFE, size="16,"),
    prefixed("docker", "dckr_pat_", "dckr_oat_", body=URLSAFE, size="16,"),
    Rule(
        "atlassian",
        r"AT(?:ATT|CTT|BB)[A-Za-z0-9_-](?:[A-Za-z0-9_-]|[=.][A-Za-z0-9_-]){19,}",
        ("ATATT", "ATCTT", "ATBB"),
    ),
    prefixed("trello", "ATTA", size="60,", inside=False),
    prefixed("rubygems", "rubygems_", size="48,"),
    prefixed("crates-io", "cio", size="32,32", inside=False, check=mixed),
    prefixed("nuget", "oy2", body="[a-z0-9]", size="43,43", inside=False),
    prefixed("clojars", "CLOJARS_", body="[a-z0-9]", size="40,"),
    prefixed("packagist", "packagist_", body="[a-z0-9_]", size="60,"),
    Rule(
        "circleci",
        r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,}_[A-Za-z0-9]{40}",
        ("CCIPAT_", "CCIPRJ_"),
    ),
    prefixed("buildkite", "bkua_", "bkaj_", "bkpt_", body="[a-z0-9]", size="36,"),
    Rule(
        "jfrog",
        rf"{START}(AKCp[A-Za-z0-9]{{69,}}|cmVmd[A-Za-z0-9]{{59,}})",
        ("AKCp", "cmVmd"),
        r"AKCp[A-Za-z0-9]{12}|cmVmd[A-Za-z0-9]{12}",
    ),
    prefixed("sonar", "sqp_", "squ_", "sqa_", size="40,", inside=False),
    prefixed("pulumi", "pul-", body=HEX, size="40,", inside=False),
    Rule("postman", r"PMAK-[A-Za-z0-9]{24}-[A-Za-z0-9]{34}", ("PMAK-",)),
    Rule(
        "sourcegraph",
        rf"{START}(sgp_(?:(?:[0-9a-f]{{16}}|local)_)?[0-9a-f]{{40}}|slk_[0-9a-f]{{64}})",
        ("sgp_", "slk_"),
        r"sgp_[0-9a-z]{5}|slk_[0-9a-f]{12}",
    ),
    Rule(
        "snyk",
        r"snyk_(?:uat|sat)\.[0-9a-f]{8}\.[A-Za-z0-9_-]{30,}\.[A-Za-z0-9_-]{30,}",
        ("snyk_uat.", "snyk_sat."),
    ),
    Rule(
        "launchdarkly",
        rf"{START}((?:sdk|mob|api)-{UUID})",
        ("sdk-", "mob-", "api-"),
        r"(?:sdk|mob|api)-[0-9a-f]{8}-",
    ),
    prefixed("infracost", "ico-", size="32,", inside=False, check=mixed),
    prefixed("prefect", "pnu_", "pnb_", size="36,", inside=False),
    prefixed("readme", "rdme_", body="[a-z0-9]", size="60,"),
    Rule(
        "doppler",
        r"dp\.(?:pt|st|ct|sa|scim|audit)(?:\.[a-z0-9_-]{2,35})?\.[A-Za-z0-9]{40,}",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
    ),
    Rule(
        "one-password",
        rf"ops_eyJ[A-Za-z0-9+/_-]{{200,}}={{0,2}}|"
        rf"{START}(A3-[A-Z0-9]{{6}}-(?:[A-Z0-9]{{11}}|[A-Z0-9]{{6}}-[A-Z0-9]{{5}})(?:-[A-Z0-9]{{5}}){{3}})",
        ("ops_eyJ", "A3-"),
        r"ops_eyJ|A3-[A-Z0-9]{6}-",
    ),
    Rule(
        "phabricator",
        rf"{START}((?:api|cli)-[a-z0-9]{{28}})",
        ("api-", "cli-"),
        r"(?:api|cli)-[a-z0-9]{20}",
        check=random,
    ),
    prefixed("deno", "ddp_", "ddo_", size="36,", inside=False),
    prefixed("val-town", "vtwn_", size="24,"),
    prefixed("n8n", "n8n_api_", body=URLSAFE, size="30,"),
    prefixed("retool", "retool_01", body="[a-z0-9]", size="24,"),
    Rule(
        "zapier-webhook",
        r"hooks\.zapier\.com/hooks/catch/\d+/([A-Za-z0-9]{6,})",
        ("hooks.zapier.com",),
    ),
    Rule(
        "ifttt-webhook",
        r"maker\.ifttt\.com/trigger/[\w-]{1,60}/with/key/([A-Za-z0-9_-]{20,})",
        ("maker.ifttt.com",),
    ),
)
