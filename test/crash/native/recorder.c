/*
 * A library to preload: watches one file of a process, records what is written to it and when it
 * is synced, and can make chosen calls fail.
 *
 *   FIO_PATH      the file to watch, which need not be there yet
 *   FIO_LOG       where records are appended; the process itself may append records of its own,
 *                 so that all have one order
 *   FIO_SYNC_AT   fail the Nth sync of that file
 *   FIO_WRITE_AT  fail the Nth write through a plain descriptor
 *   FIO_META_AT   fail the Nth write through a descriptor with O_DSYNC (LMDB's meta pages)
 *   FIO_STICKY    1: from that call on every sync and every write fails, as on a disk that is gone
 *   FIO_ERRNO     what a failed call says: 5 (EIO) or 28 (ENOSPC)
 *
 * A record is a header and its bytes, all little endian (recording.ts reads them):
 *   kind u8 · zero u8 x3 · length u32 · place u64 · bytes
 *
 *   W  bytes were written at place and may still be lost
 *   D  bytes are being written at place through O_DSYNC;  d they are on disk;  e that failed
 *   S  the sync number place begins;  s it is done;  x it failed
 *   T  the file was cut or grown to place
 *   F  a call was made to fail; place is 0 for a sync, 1 for a write, 2 for a meta write
 *
 * Order is on the safe side: a write is recorded after it was made and a sync before it is made, so
 * a write that stands before a sync in the log was complete when that sync began.
 *
 * Only calls through libc are seen. A write that came another way, or through a map, is missed; who
 * reads the log finds that by rebuilding the file from it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };
enum call { SYNC, WRITE, META, CALLS };

/* As it lies in the log, on the little endian machines that this is for. */
struct record {
  uint8_t kind;
  uint8_t zero[3];
  uint32_t length;
  uint64_t place;
};

static const char *path;
static int log_fd = -1;
static long fail_at[CALLS];
static long seen[CALLS];
static int sticky, broken;
static int fault = EIO;
static uint64_t syncs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long number_of(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text == NULL ? otherwise : atol(text);
}

__attribute__((constructor)) static void begin(void) {
  const char *log = getenv("FIO_LOG");
  path = getenv("FIO_PATH");
  fail_at[SYNC] = number_of("FIO_SYNC_AT", 0);
  fail_at[WRITE] = number_of("FIO_WRITE_AT", 0);
  fail_at[META] = number_of("FIO_META_AT", 0);
  sticky = (int)number_of("FIO_STICKY", 0);
  fault = (int)number_of("FIO_ERRNO", EIO);
  if (log != NULL) log_fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* Asked anew each time: descriptors come and go, and the file is made while the process runs. */
static int is_watched(int fd) {
  struct stat of_fd, of_path;
  int saved = errno;
  int same = path != NULL && fstat(fd, &of_fd) == 0 && stat(path, &of_path) == 0 &&
             of_fd.st_ino == of_path.st_ino && of_fd.st_dev == of_path.st_dev;
  errno = saved;
  return same;
}

/* One append for each record keeps them whole beside those of the process. A log with a gap would
 * prove nothing, so the process goes down with it. */
static void append(char kind, uint64_t place, const void *bytes, size_t length) {
  struct record header = {.kind = (uint8_t)kind, .length = (uint32_t)length, .place = place};
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)bytes, length}};
  int saved = errno;
  if (log_fd < 0) return;
  if (syscall(SYS_writev, log_fd, parts, 2) != (long)(sizeof header + length)) abort();
  errno = saved;
}

/* Counts a call and says whether it is to fail. Only within the lock. */
static int must_fail(enum call call) {
  seen[call] += 1;
  if (!broken && seen[call] != fail_at[call]) return 0;
  broken = sticky;
  append('F', call, NULL, 0);
  return 1;
}

static int sync_file(long number, int fd) {
  uint64_t id;
  int fails, result;
  if (!is_watched(fd)) return (int)syscall(number, fd);
  pthread_mutex_lock(&lock);
  fails = must_fail(SYNC);
  id = syncs++;
  append('S', id, NULL, 0);
  pthread_mutex_unlock(&lock);
  /* The lock is free meanwhile: what is written during a sync is not covered by it. */
  result = fails ? -1 : (int)syscall(number, fd);
  append(result == 0 ? 's' : 'x', id, NULL, 0);
  if (fails) errno = fault;
  return result;
}

/* The bytes of a vector in one piece, since they are written and recorded as one. */
static char *join(const struct iovec *parts, int count, size_t *length) {
  char *bytes;
  size_t at = 0;
  *length = 0;
  for (int i = 0; i < count; i += 1) *length += parts[i].iov_len;
  bytes = malloc(*length + 1);
  if (bytes == NULL) abort();
  for (int i = 0; i < count; i += 1) {
    memcpy(bytes + at, parts[i].iov_base, parts[i].iov_len);
    at += parts[i].iov_len;
  }
  return bytes;
}

/* A disk that fills up still takes the first pages of a longer write, and says so. */
static ssize_t write_plain(int fd, const char *bytes, size_t length, off_t at) {
  ssize_t written = -1;
  pthread_mutex_lock(&lock);
  if (must_fail(WRITE)) length = fault == ENOSPC ? length / 2 / PAGE * PAGE : 0;
  if (length == 0) {
    errno = fault;
  } else {
    written = syscall(SYS_pwrite64, fd, bytes, length, at);
    if (written > 0) append('W', (uint64_t)at, bytes, (size_t)written);
  }
  pthread_mutex_unlock(&lock);
  return written;
}

/* Of a write with O_DSYNC that fails with EIO the page cache has the bytes and the disk perhaps
 * not; one that finds no room has written nothing. */
static ssize_t write_synced(int fd, const char *bytes, size_t length, off_t at) {
  ssize_t written = -1;
  int fails;
  pthread_mutex_lock(&lock);
  fails = must_fail(META);
  append('D', (uint64_t)at, bytes, length);
  pthread_mutex_unlock(&lock);
  if (!fails || fault == EIO) written = syscall(SYS_pwrite64, fd, bytes, length, at);
  if (fails) {
    written = -1;
    errno = fault;
  }
  append(written == (ssize_t)length ? 'd' : 'e', (uint64_t)at, NULL, 0);
  return written;
}

static ssize_t write_at(int fd, const char *bytes, size_t length, off_t at) {
  int is_synced = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
  return is_synced ? write_synced(fd, bytes, length, at) : write_plain(fd, bytes, length, at);
}

/* A write without a place goes where the descriptor stands, and moves it. */
static ssize_t write_here(int fd, const char *bytes, size_t length) {
  ssize_t written = write_at(fd, bytes, length, lseek(fd, 0, SEEK_CUR));
  if (written > 0) lseek(fd, written, SEEK_CUR);
  return written;
}

static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t at, int is_placed) {
  size_t length;
  char *bytes = join(parts, count, &length);
  ssize_t written = is_placed ? write_at(fd, bytes, length, at) : write_here(fd, bytes, length);
  free(bytes);
  return written;
}

static int cut(int fd, off_t length) {
  int result;
  pthread_mutex_lock(&lock);
  result = (int)syscall(SYS_ftruncate, fd, length);
  if (result == 0 && is_watched(fd)) append('T', (uint64_t)length, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

/* What a process calls in place of libc's functions of these names. */

ssize_t write(int fd, const void *bytes, size_t length) {
  return is_watched(fd) ? write_here(fd, bytes, length) : syscall(SYS_write, fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  return is_watched(fd) ? write_at(fd, bytes, length, at)
                        : syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  return is_watched(fd) ? write_parts(fd, parts, count, 0, 0)
                        : syscall(SYS_writev, fd, parts, count);
}

/* The place is split in two for the kernel, and only its low half counts on 64 bits. */
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  return is_watched(fd) ? write_parts(fd, parts, count, at, 1)
                        : syscall(SYS_pwritev, fd, parts, count, at, 0);
}

int fsync(int fd) { return sync_file(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_file(SYS_fdatasync, fd); }
int ftruncate(int fd, off_t length) { return cut(fd, length); }

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  return pwrite(fd, bytes, length, at);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  return pwritev(fd, parts, count, at);
}
int ftruncate64(int fd, off64_t length) { return cut(fd, length); }
