//! What processes of the host share without files: System V memory, a queue and semaphores, and a
//! POSIX queue. They are open to every user, so that only a cage keeps a command from them.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io::Error;

use crate::world::not_run;

const EVERYBODY: i32 = 0o666;
const SIZE: usize = 4096;
/// What cases look for in the memory, and in a message.
const TEXT: &[u8] = b"host's own";

/// Removed when dropped.
pub struct SharedObjects {
    pub memory: i32,
    pub queue: i32,
    pub semaphores: i32,
    /// The name of the POSIX queue.
    pub name: String,
}

impl SharedObjects {
    pub fn new(name: String) -> Self {
        let flags = libc::IPC_CREAT | EVERYBODY;
        let path = CString::new(name.as_str()).unwrap();
        #[repr(C)]
        struct Message {
            kind: libc::c_long,
            text: [u8; TEXT.len()],
        }
        let message = Message {
            kind: 1,
            text: TEXT.try_into().unwrap(),
        };
        // SAFETY: new objects of our own; what is copied into them is as long as is said.
        unsafe {
            let memory = made(libc::shmget(libc::IPC_PRIVATE, SIZE, flags));
            let place = libc::shmat(memory, std::ptr::null(), 0);
            assert!(place as isize != -1, "{}", Error::last_os_error());
            place
                .cast::<u8>()
                .copy_from_nonoverlapping(TEXT.as_ptr(), TEXT.len());
            libc::shmdt(place);
            let queue = made(libc::msgget(libc::IPC_PRIVATE, flags));
            for _ in 0..100 {
                let sent = libc::msgsnd(queue, (&raw const message).cast(), TEXT.len(), 0);
                assert_eq!(sent, 0, "{}", Error::last_os_error());
            }
            let semaphores = made(libc::semget(libc::IPC_PRIVATE, 1, flags));
            let mask = libc::umask(0);
            let posix = libc::mq_open(
                path.as_ptr(),
                libc::O_CREAT | libc::O_RDWR,
                EVERYBODY,
                std::ptr::null::<libc::mq_attr>(),
            );
            libc::umask(mask);
            if posix == -1 {
                not_run(&format!("POSIX queues: {}", Error::last_os_error()));
            } else {
                libc::mq_close(posix);
            }
            Self {
                memory,
                queue,
                semaphores,
                name,
            }
        }
    }
}

fn made(id: i32) -> i32 {
    assert!(id >= 0, "{}", Error::last_os_error());
    id
}

impl Drop for SharedObjects {
    fn drop(&mut self) {
        let path = CString::new(self.name.as_str()).unwrap();
        // SAFETY: the objects are our own; removing them takes no other pointer.
        unsafe {
            libc::shmctl(self.memory, libc::IPC_RMID, std::ptr::null_mut());
            libc::msgctl(self.queue, libc::IPC_RMID, std::ptr::null_mut());
            libc::semctl(self.semaphores, 0, libc::IPC_RMID);
            libc::mq_unlink(path.as_ptr());
        }
    }
}
