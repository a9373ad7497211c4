//! `noregret data`: downloads from a server on this machine.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use flate2::read::GzDecoder;

use crate::util::{Folder, Ran};

/// A server of a few files.
struct Server {
    address: String,
    /// What was asked for: path and range.
    asked: Arc<Mutex<Vec<String>>>,
}

/// How it serves.
#[derive(Clone, Copy)]
struct Manners {
    /// So many answers end in the middle of what they promised.
    cut: usize,
    /// Whether it can begin in the middle of a file.
    ranges: bool,
}

const GOOD: Manners = Manners { cut: 0, ranges: true };

impl Server {
    fn start(files: &[(&str, &[u8])], manners: Manners) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let files: HashMap<String, Vec<u8>> =
            files.iter().map(|(name, bytes)| (format!("/{name}"), bytes.to_vec())).collect();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&asked);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                serve(connection, &files, manners, &log);
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn fetch(&self, folder: &Folder, name: &str) -> Ran {
        let mut command = folder.command(&format!("data fetch {name} --from {}", self.address));
        for proxy in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env_remove(proxy);
        }
        let output = command.output().unwrap();
        let ran = Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!ran.stderr.contains("panicked") && ran.code >= 0, "{}", ran.stderr);
        ran
    }
}

/// Answers one request.
fn serve(
    mut connection: TcpStream,
    files: &HashMap<String, Vec<u8>>,
    manners: Manners,
    log: &Mutex<Vec<String>>,
) {
    let (mut path, mut range) = (String::new(), None);
    for line in BufReader::new(&connection).lines().map_while(Result::ok) {
        if let Some(rest) = line.strip_prefix("GET ") {
            path = rest.split(' ').next().unwrap().to_owned();
        } else if let Some(bytes) = line.to_lowercase().strip_prefix("range: bytes=") {
            range = bytes.trim_end_matches('-').parse::<usize>().ok();
        } else if line.is_empty() {
            break;
        }
    }
    let answers = {
        let mut log = log.lock().unwrap();
        log.push(range.map_or_else(|| path.clone(), |from| format!("{path} from {from}")));
        log.len()
    };
    let Some(bytes) = files.get(&path) else {
        let _ =
            connection.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    };
    let from = range.filter(|_| manners.ranges).unwrap_or(0);
    let (status, extra) = match range.filter(|_| manners.ranges) {
        Some(from) if from >= bytes.len() => {
            ("416 Range Not Satisfiable", format!("Content-Range: bytes */{}\r\n", bytes.len()))
        }
        Some(from) => (
            "206 Partial Content",
            format!("Content-Range: bytes {from}-{}/{}\r\n", bytes.len() - 1, bytes.len()),
        ),
        None => ("200 OK", String::new()),
    };
    let body = bytes.get(from..).unwrap_or_default();
    let sent = if answers <= manners.cut { &body[..body.len() / 2] } else { body };
    let head =
        format!("HTTP/1.1 {status}\r\n{extra}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(sent));
}

fn text(folder: &Folder, name: &str) -> String {
    let mut text = String::new();
    GzDecoder::new(&folder.read(name)[..]).read_to_string(&mut text).unwrap();
    text
}

fn exists(folder: &Folder, name: &str) -> bool {
    folder.path(name).exists()
}

/// Rows that are longer than a server sends at once.
fn rows(count: usize) -> String {
    (0..count).map(|row| format!("{} 1:0.{row} \n", row % 26 + 1)).collect()
}

#[test]
fn a_set_is_downloaded_and_made() {
    let train = rows(1000);
    let server = Server::start(&[("letter.scale", train.as_bytes()), ("letter.scale.t", b"2 1:1 \n")], GOOD);
    let folder = Folder::new();
    let ran = server.fetch(&folder, "letter").succeeded();
    assert_eq!(text(&folder, "data/letter.scale.libsvm.gz"), train.replace(" \n", "\n") + "2 1:1\n");
    assert_eq!(folder.read("data/originals/letter.scale"), train.as_bytes());
    assert!(!exists(&folder, "data/originals/letter.scale.part"));
    let digest = "sha256 9ff935ab0b2f5aae45b96be8ef2a83ee22d285b064917411d6a0b315072e1808 (not known";
    assert!(ran.stdout.lines().nth(1).unwrap().contains(digest), "{}", ran.stdout);
    assert!(ran.stdout.contains("1001 rows, not the 20000 of the published set"), "{}", ran.stdout);
    assert_eq!(server.asked(), ["/letter.scale", "/letter.scale.t"]);
    // What is there is not downloaded again.
    let ran = server.fetch(&folder, "letter").succeeded();
    assert!(ran.stderr.contains("is in data already"), "{}", ran.stderr);
    std::fs::remove_file(folder.path("data/letter.scale.libsvm.gz")).unwrap();
    server.fetch(&folder, "letter").succeeded();
    assert!(exists(&folder, "data/letter.scale.libsvm.gz"));
    assert_eq!(server.asked().len(), 2);
    // And `run` reads it.
    folder.run("run data/letter.scale.libsvm.gz --learner ogd --quiet").succeeded();
}

/// The sets of digits are published in the format of bzip2.
#[test]
fn bzip2_is_read() {
    let packed = |text: &str| {
        let mut file = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap()
    };
    let train = rows(1000);
    // What is packed in parallel has many streams, one after the other.
    let (first, second) = train.split_at(train.len() / 2 + 3);
    let (train_file, test_file) = ([packed(first), packed(second)].concat(), packed("2 1:-1 \n"));
    let server = Server::start(&[("usps.bz2", &train_file[..]), ("usps.t.bz2", &test_file[..])], GOOD);
    let folder = Folder::new();
    server.fetch(&folder, "usps").succeeded();
    assert_eq!(text(&folder, "data/usps.libsvm.gz"), train.replace(" \n", "\n") + "2 1:-1\n");
    assert_eq!(folder.read("data/originals/usps.bz2"), train_file);
    // Half a file is no file.
    let server = Server::start(&[("mnist.scale.t.bz2", &train_file[..train_file.len() / 2])], GOOD);
    let ran = server.fetch(&folder, "mnist_t10k");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("mnist.scale.t.bz2: cannot be read: "), "{}", ran.stderr);
    assert!(!exists(&folder, "data/mnist_t10k.libsvm.gz"));
}

#[test]
fn a_download_goes_on_where_it_was_cut() {
    let (train, test) = (rows(5000), rows(10));
    let files = [("letter.scale", train.as_bytes()), ("letter.scale.t", test.as_bytes())];
    let server = Server::start(&files, Manners { cut: 2, ..GOOD });
    let folder = Folder::new();
    server.fetch(&folder, "letter").succeeded();
    let half = train.len() / 2;
    let three_quarters = half + (train.len() - half) / 2;
    assert_eq!(
        server.asked(),
        [
            "/letter.scale".to_owned(),
            format!("/letter.scale from {half}"),
            format!("/letter.scale from {three_quarters}"),
            "/letter.scale.t".to_owned()
        ]
    );
    assert_eq!(folder.read("data/originals/letter.scale"), train.as_bytes());
    // Also what an earlier call left, whole or not.
    for kept in [100, train.len()] {
        let (server, folder) = (Server::start(&files, GOOD), Folder::new());
        std::fs::create_dir_all(folder.path("data/originals")).unwrap();
        folder.write("data/originals/letter.scale.part", &train[..kept]);
        server.fetch(&folder, "letter").succeeded();
        assert_eq!(server.asked()[0], format!("/letter.scale from {kept}"));
        assert_eq!(folder.read("data/originals/letter.scale"), train.as_bytes());
    }
}

#[test]
fn a_server_without_ranges_begins_again() {
    let train = rows(5000);
    let files = [("letter.scale", train.as_bytes()), ("letter.scale.t", b"1 1:1\n")];
    let server = Server::start(&files, Manners { cut: 1, ranges: false });
    let folder = Folder::new();
    server.fetch(&folder, "letter").succeeded();
    assert_eq!(folder.read("data/originals/letter.scale"), train.as_bytes());
}

#[test]
fn a_server_that_always_breaks_off_is_given_up() {
    let train = rows(5000);
    let half = train.len() / 2;
    let server = Server::start(&[("letter.scale", train.as_bytes())], Manners { cut: 99, ranges: false });
    let folder = Folder::new();
    let ran = server.fetch(&folder, "letter");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let last = ran.stderr.lines().last().unwrap();
    let kept = format!("; the {half} bytes so far stay in data/originals/letter.scale.part");
    assert!(last.contains("the connection ended after") && last.ends_with(&kept), "{last}");
    assert_eq!(folder.read("data/originals/letter.scale.part").len(), half);
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn what_is_not_what_it_should_be_is_not_kept() {
    let files: [(&str, &[u8]); 2] = [("kddcup.data_10_percent.gz", b"abc"), ("vehicle.scale", b"1 1:1\n")];
    let server = Server::start(&files, GOOD);
    let folder = Folder::new();
    let url = format!("{}/kddcup.data_10_percent.gz", server.address);
    server.fetch(&folder, "kdd99").failed(
        2,
        &format!(
            "{url}: has SHA-256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad, and \
             8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561 was needed; it was not kept"
        ),
    );
    assert!(std::fs::read_dir(folder.path("data/originals")).unwrap().next().is_none());
    // No checksum of this one has been published, but the number of its rows is known.
    let ran = server.fetch(&folder, "vehicle");
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("vehicle.scale.libsvm.gz: was not written: its text would have"),
        "{}",
        ran.stderr
    );
    assert!(!exists(&folder, "data/vehicle.scale.libsvm.gz"));
}

#[test]
fn what_is_not_there_is_named() {
    let server = Server::start(&[], GOOD);
    let folder = Folder::new();
    let address = &server.address;
    server
        .fetch(&folder, "segment")
        .failed(2, &format!("{address}/segment.scale: the server answered 404 Not Found"));
    assert!(!exists(&folder, "data/originals/segment.scale.part"));
    let ran = server.fetch(&folder, "segmnt");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("there is no data set 'segmnt' (did you mean 'segment'?)"), "{}", ran.stderr);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = folder.run(&format!("data fetch segment --from http://{free}"));
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("segment.scale: no answer: "), "{}", ran.stderr);
}

#[test]
fn sets_are_listed_with_their_homes() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sets")).unwrap();
    folder.write("sets/covtype.csv.gz", "");
    let list = folder.run("data list --data sets").succeeded().stdout;
    let there: Vec<&str> = list.lines().filter(|line| line.contains("(is there")).collect();
    assert!(there.len() == 1 && there[0].contains("covtype.csv.gz"), "{list}");
    for text in ["reuters4", "checksum not known", "sha256 614360d02575…", "CC BY 4.0"] {
        assert!(list.contains(text), "{text}");
    }
}
