/*
 * Lets user-mode Linux run on processors whose registers are more than it knows.
 *
 * It sets those of a process by as many bytes as it was compiled for; the kernel beneath takes all
 * of them or none (EFAULT). So all are read, the given ones written over them, and all are set.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef long (*ptrace_function)(int, pid_t, void *, void *);

long ptrace(enum __ptrace_request request, ...) {
  static ptrace_function next;
  if (!next) next = (ptrace_function)dlsym(RTLD_NEXT, "ptrace");
  va_list rest;
  va_start(rest, request);
  pid_t process = va_arg(rest, pid_t);
  void *where = va_arg(rest, void *);
  void *data = va_arg(rest, void *);
  va_end(rest);
  static char room[64 * 1024];
  struct iovec *given = data;
  struct iovec all = {room, sizeof room};
  int is_partial = request == PTRACE_SETREGSET && where == (void *)NT_X86_XSTATE &&
                   next(PTRACE_GETREGSET, process, where, &all) == 0 && given->iov_len < all.iov_len;
  if (!is_partial) return next(request, process, where, data);
  memcpy(room, given->iov_base, given->iov_len);
  return next(request, process, where, &all);
}
