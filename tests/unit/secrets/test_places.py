"""Secrets without a form of their own are known by their name, header or URL."""

import json

import pytest

from hookline.secrets import redact, redact_bytes


def hidden(text: str) -> str:
    """The text with what is between ``«»`` taken out, as redaction should leave it."""
    before, rest = text.split("«", 1)
    secret, after = rest.split("»", 1)
    done = redact(before + secret + after)
    assert done.count == 1, done
    assert done.text == f"{before}[redacted:{done.families[0]}]{after}"
    return done.families[0]


@pytest.mark.parametrize(
    "text",
    [
        "export FOO_TOKEN=«abc»",
        "PASSWORD=«hunter2» ./run",
        "PGPASSWORD=«hunter2» psql",
        "DB_PASS=«hunter2»",
        "DB_PASSWORD_PROD=«hunter2»",
        "API_KEY='«a b c»' run",
        'SECRET="«it\'s \\"quoted\\" here»" run',
        "SECRET='«$ecret123»'",
        "MY_APIKEY=«x1»;ls",
        "PRIVATE_KEY=«abcdef»",
        "CREDENTIAL=«bob12345»",
        "_auth=«Ym9iOnB3MTIz»",
        "password: «hunter2»",
        "  password: «hunter»\n  user: bob",
        "- client_secret: «hunter2»",
        "clientSecret: '«hunter2»',",
        'const apiKey = "«abc»";',
        'token := "«abc»"',
        'token: str = "«abc»"',
        '{"api_key": "«VALUE»"}',
        '{"password" : "«a b»", "n": 1}',
        "{'db_password': '«abc»'}",
        "{:password => '«abc»'}",
        "mysql --password «hunter2» -u bob",
        "tool --token=«abc» x",
        "tool --auth-token «abc» x",
        "tool --db-password '«a b»' x",
        '["tool", "--password", "«abc»"]',
        "Server=x;Uid=bob;Pwd=«hunter2»;",
        "https://example.com/?access_token=«abc»&page=2",
        "password = «hunter2»",
        "PASSWORD=${PW:-«»}".replace("${PW:-«»}", "«${PW:-hunter2}»"),
        "password: «YWJjZA==»",
        "if token == '«abc123»':",
        "DJANGO_SECRET_KEY=«x!y»",
        "PASSWORD=«aB3(x9]k»",
        "token_type: password=«hunter2»",
        'TOKEN_CMD="PASSWORD=«hunter2» run"',
        '{"secret_description": "PASSWORD=«hunter2» run"}',
        "tool --token --password «hunter2»",
        "{\\u0027password\\u0027: \\u0027«abc»\\u0027}",
    ],
)
def test_the_value_of_a_secret_name_is_taken_out(text: str) -> None:
    assert hidden(text) == "secret"


@pytest.mark.parametrize(
    "text",
    [
        "TOKEN=$(cat x)",
        "PASSWORD=$PW",
        'PASSWORD="$PW"',
        "PASSWORD=${PW}",
        "PASSWORD=${PW:?}",
        "PASSWORD=%PW%",
        "password: ${{ secrets.PASSWORD }}",
        "password: {{ vault_password }}",
        "token: <your token>",
        "PASSWORD=",
        "PASSWORD=\nUSER=bob",
        "PASSWORD=********",
        "PASSWORD='...'",
        "token: str",
        "token: str,",
        "password: Optional[str] = None",
        "password: string;",
        "token: TokenProvider",
        "max_tokens: 100",
        "max_token: 100",
        '{"input_tokens": 1234, "output_tokens": 12}',
        "secret_name: foo",
        "TOKEN_FILE=/run/secrets/token",
        "PASSWORD_FILE=/run/secrets/pw",
        "SECRET=/run/secrets/pw",
        "token_type: bearer",
        "next_page_token=abc",
        "author: bob1234567",
        "authority=abc1234567",
        "bypass=1",
        "PWD=/home/bob",
        "OLDPWD=/home/bob",
        "token=token, password=password",
        "token = value",
        "self.token = self.other",
        "password=get_password()",
        "password = os.environ['PW']",
        "token = process.env.TOKEN",
        "token == null",
        "password: true",
        "secrets: inherit",
        "credentials: include",
        "wrong password: try again",
        "unexpected token: expected a comma",
        "docker login --password-stdin example.com",
        "pass --token to the tool",
        "tool --token --verbose",
        "tool --password $PW",
        "tool --password-file pw.txt",
        '{"token": null, "password": 12345, "auth": true, "secret": {}, "api_key": []}',
        "pass: 12, fail: 0",
        "if token == 'struct':",
        "client_secret=client_secret,",
        "self.key_password = other.key_password",
        "auth: ClientCredentialsOfSomeKind | None = None",
        "a non-secret key, and a three-pass scheme",
        "f(id='my-client-secret', issuer='x')",
        'args += ["--password", password]',
        "token.map = [first, last]",
        "token_loader_cls = FileTokenLoaderOfSomeKind",
        "the --password options can be used",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text).text is text


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer «abc.def»\r\nHost: x",
        "authorization: Basic «Ym9iOnB3»",
        "Authorization: token «abc»",
        "Authorization: «abc»",
        "Proxy-Authorization: Basic «Ym9iOnB3»",
        "Authorization: Digest «username=x, response=abc»",
        "X-Api-Key: «abc»",
        "curl -H 'Authorization: Bearer «abc»' https://example.com",
        'curl -H "X-Api-Key: «abc»" https://example.com',
        """curl -H 'Authorization: Digest «username="x", response="abc"»' x""",
        '{"Authorization": "Bearer «abc»"}',
        '{"authorization":"«abc»"}',
        "{'Authorization': 'Bearer «abc»'}",
        'headers["Authorization"] = "Bearer «abc»"',
        '["curl", "-H", "Authorization: Bearer «abc»"]',
    ],
)
def test_what_a_header_authorizes_with_is_taken_out_and_its_scheme_stays(text: str) -> None:
    assert hidden(text) == "authorization"


@pytest.mark.parametrize(
    "text",
    [
        "Cookie: «sid=abc; theme=dark»\nHost: x",
        "Set-Cookie: «sid=abc; Path=/; HttpOnly»",
        "curl -H 'Cookie: «sid=abc; q=\"1\"»' x",
        '{"cookie": "«sid=abc»"}',
        "{'Set-Cookie': '«sid=abc»'}",
    ],
)
def test_cookies_are_taken_out(text: str) -> None:
    assert hidden(text) == "cookie"


@pytest.mark.parametrize(
    "text",
    [
        'curl -H "Authorization: Bearer $TOKEN" x',
        'curl -H "Authorization: Bearer $(cat token)" x',
        "Authorization: `Bearer ${token}`",
        'headers["Authorization"] = f"Bearer {token}"',
        "authorization: string;",
        "Authorization: Bearer <token>",
        "the bearer of good news and many other messages",
        '{"cookies": []}',
    ],
)
def test_a_header_that_only_names_its_secret_stays(text: str) -> None:
    assert redact(text).text is text


@pytest.mark.parametrize(
    "text",
    [
        "git clone https://bob:«hunter2»@example.com/x.git",
        "postgres://bob:«p@ss:w0rd»@db:5432/x",
        "redis://:«hunter2»@cache/0",
        "auth.store://bob:«hunter2»@example.com",
        "DATABASE_URL=mysql://root:«p#1?»@db/x",
        "curl -u bob:«hunter2» https://example.com",
        "curl -s --user 'bob:«hunter2»' https://example.com",
    ],
)
def test_the_password_of_a_url_is_taken_out_and_its_user_and_host_stay(text: str) -> None:
    assert hidden(text) == "url-password"


@pytest.mark.parametrize(
    "text",
    [
        "mysql -p«hunter2» shop",
        "sudo mysql -uroot -p'«hunter two»' -h db shop",
        'docker exec db mysqldump -uroot -p"«hunter2»" shop > x.sql',
        "bash -c 'mysqladmin -u root -p«hunter2» status'",
        "mysql -e 'select 1; select 2' -p«hunter2»",
        "mariadb-dump -p«123456» shop",
        "sshpass -p «hunter2» ssh bob@example.com",
        "sshpass -p«hunter2» scp -P 22 x bob@example.com:",
        "redis-cli -h cache -a «hunter2» ping",
        "docker login -u bob -p «hunter2» registry.example.com",
        "docker --config x login -p«hunter2»",
        "helm registry login -u bob -p '«hunter2»' example.com",
        "az login -u bob -p «hunter2»",
        "aws configure set aws_secret_access_key «hunter2»",
        "aws --profile x configure set profile.x.aws_session_token «hunter2»",
        "mongosh -u bob -p «hunter2» --host db",
        "sqlcmd -U sa -P «hunter2» -S db",
        "ldapsearch -D cn=bob -w «hunter2» -b dc=x",
        "kubectl create secret generic x --from-literal=key=«hunter2»",
        "npm config set //registry.example.com/:_authToken «hunter2»",
        "unzip -P «hunter2» x.zip",
        "7z x -p«hunter2» x.7z",
        "openssl enc -aes-256-cbc -k «hunter2» -in x",
        "openssl rsa -passin pass:«hunter2» -in x",
        "lftp -u bob,«hunter2» example.com",
        "smbclient -U 'bob%«hunter2»' //example.com/x",
        "xfreerdp /u:bob /p:«hunter2» /v:example.com",
    ],
)
def test_what_a_program_is_given_by_an_option_is_taken_out(text: str) -> None:
    assert hidden(text) == "password"
    told, secret = text.replace("«", "").replace("»", ""), text.partition("«")[2].partition("»")[0]
    raw = redact_bytes(json.dumps({"tool_input": {"command": told}}).encode()).raw
    assert json.loads(raw)["tool_input"]["command"] == told.replace(secret, "[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "curl -sSu 'bob:«hunter2»' https://example.com",
        "curl -U bob:«hunter2» -x proxy https://example.com",
    ],
)
def test_a_user_of_curl_is_seen_however_the_option_is_written(text: str) -> None:
    assert hidden(text) == "url-password"


@pytest.mark.parametrize(
    "text",
    [
        "mkdir -p build/x9Yz8Q7",
        "mysql -p",
        "mysql -p shop",
        "mysqldump -u root -p shop > x.sql",
        "mysql -P 3306 shop",
        "mysql --protocol=tcp shop",
        'mysql -p"$MYSQL_PASSWORD" shop',
        "mysql -p$PW shop",
        "mysql shop; mkdir -pbuild",
        "docker run --name mysql -p3306:3306 mysql:8",
        "ssh -p 22 example.com",
        "sshpass -e ssh example.com",
        "sshpass -p $PW ssh example.com",
        "docker run -p 80:80 nginx",
        "docker compose -p project1 up",
        "docker login -u bob registry.example.com",
        "docker login -p $TOKEN",
        "cp -a x1 y2",
        "redis-cli -a",
        "psql -p 5432 shop",
        "aws configure set region us-east-1",
        "unzip -p x1.zip file2",
        "git log -p src/x1.py",
        "read -p 'Continue 1? ' x",
        "curl -u https://example.com",
    ],
)
def test_the_same_option_of_another_program_and_one_without_a_secret_stay(text: str) -> None:
    assert redact(text).text is text


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com:8080/a@b",
        "http://localhost:8080?mail=a@b.c",
        "ssh://git@example.com/x",
        "https://$USER:$PASS@example.com",
        "https://bob:${PASS}@example.com",
        "https://bob:<password>@example.com",
        "curl -u $USER:$PASS x",
        "http://[::1]:80/",
    ],
)
def test_a_url_without_a_password_stays(text: str) -> None:
    assert redact(text).text is text


def test_a_secret_keeps_its_family_when_its_name_says_so_too() -> None:
    token = "ghp" + "_" + "Ab1" * 12
    assert redact(f"GITHUB_TOKEN={token}").text == "GITHUB_TOKEN=[redacted:github]"
    assert redact(f"https://bob:{token}@x/").text == "https://bob:[redacted:github]@x/"
    assert redact(f"Authorization: Bearer {token}").families == ("github",)


def test_a_password_with_quotes_and_escapes_in_json_is_taken_out_whole() -> None:
    payload = {"password": 'a"b\\c\nd "e" 𝄞', "command": 'TOKEN="x \\" y" ls', "user": "bob"}
    for ascii_only in (True, False):
        done = redact_bytes(json.dumps(payload, ensure_ascii=ascii_only).encode())
        assert json.loads(done.raw) == {
            "password": "[redacted:secret]",
            "command": 'TOKEN="[redacted:secret]" ls',
            "user": "bob",
        }


def test_a_payload_that_is_no_utf_8_keeps_its_bytes_and_loses_its_secret() -> None:
    raw = b'{"a": "\xff\xfe", "password": "hun\xffter", "b": "\xc3"}'
    done = redact_bytes(raw)
    assert done.raw == b'{"a": "\xff\xfe", "password": "[redacted:secret]", "b": "\xc3"}'


def test_a_payload_that_was_cut_off_loses_its_secret() -> None:
    assert redact_bytes(b'{"a": {"password": "hunter2 and').raw == (
        b'{"a": {"password": "[redacted:secret]'
    )


def test_half_characters_pass_through() -> None:
    done = redact("\ud83d PASSWORD=abc\udc00 \ude00")
    assert done.text == "\ud83d PASSWORD=[redacted:secret] \ude00"


def test_families_are_told_once_each_and_secrets_are_counted() -> None:
    done = redact("A_TOKEN=abc B_TOKEN=def https://u:p@h/")
    assert (done.count, done.families) == (3, ("secret", "url-password"))


def test_a_long_sentence_of_names_without_values_stays() -> None:
    text = "password token secret api_key authorization cookie " * 50
    assert redact(text).text is text
