// One thread for each kind of lock of Rust's standard library, which waits for it for 400 ms.
// build: -O -g
use std::sync::{mpsc, Arc, Condvar, Mutex, Once, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

static SETUP: Once = Once::new();

fn start<F: FnOnce() + Send + 'static>(name: &str, run: F) -> JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(run).unwrap()
}

fn main() {
    let cache = Arc::new(Mutex::new(0));
    let table = Arc::new(RwLock::new(0));
    let queue = Arc::new((Mutex::new(false), Condvar::new()));
    let (sender, receiver) = mpsc::channel::<i32>();
    let cache_guard = cache.lock().unwrap();
    let table_guard = table.write().unwrap();
    let (mutex, rwlock, condition) = (cache.clone(), table.clone(), queue.clone());
    let sleeping = start("sleep", || thread::sleep(Duration::from_millis(400)));
    let threads = vec![
        start("mutex", move || drop(mutex.lock().unwrap())),
        start("rwlock", move || drop(rwlock.read().unwrap())),
        start("condition", move || {
            let mut ready = condition.0.lock().unwrap();
            while !*ready {
                ready = condition.1.wait(ready).unwrap();
            }
        }),
        start("once", || {
            thread::sleep(Duration::from_millis(20)); // main() runs the function by then
            SETUP.call_once(|| {});
        }),
        start("channel", move || assert_eq!(receiver.recv().unwrap(), 1)),
        start("join", move || sleeping.join().unwrap()),
    ];
    let park = start("park", || thread::park());
    SETUP.call_once(|| thread::sleep(Duration::from_millis(400)));
    drop(cache_guard);
    drop(table_guard);
    *queue.0.lock().unwrap() = true;
    queue.1.notify_all();
    park.thread().unpark();
    sender.send(1).unwrap();
    park.join().unwrap();
    for thread in threads {
        thread.join().unwrap();
    }
}
