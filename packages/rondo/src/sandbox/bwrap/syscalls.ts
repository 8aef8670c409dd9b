// The system calls that the filter names, with their numbers on x86_64 and on arm64, where that has them.

type Numbers = readonly [x64: number, arm64?: number];

/** Calls that sandboxed programs do not need and that reach deep into the kernel. They do not exist for them. */
export const hiddenCalls = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  // Flags of clone3 are behind a pointer, which a filter cannot follow; libraries then use clone.
  clone3: [435, 435],
  // Libraries then copy by reading and writing, which the watch of the disk can keep up with.
  copy_file_range: [326, 285],
  memfd_secret: [447, 447],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  uselib: [134],
  _sysctl: [156],
  create_module: [174],
  get_kernel_syms: [177],
  query_module: [178],
  statmount: [457, 457],
  listmount: [458, 458],
} as const satisfies Record<string, Numbers>;

/** Calls that are refused as if the permission were missing. */
export const refusedCalls = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  syslog: [103, 116],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  iopl: [172],
  ioperm: [173],
  modify_ldt: [154],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  set_mempolicy: [238, 237],
  mbind: [237, 235],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  set_mempolicy_home_node: [450, 450],
} as const satisfies Record<string, Numbers>;

/** Memory that only a cgroup counts. Hidden where there is none. */
export const uncountedMemoryCalls = {
  memfd_create: [319, 279],
  shmget: [29, 194],
  msgget: [68, 186],
} as const satisfies Record<string, Numbers>;

/** Calls whose arguments decide. */
export const checkedCalls = {
  socket: [41, 198],
  clone: [56, 220],
  personality: [135, 92],
  ioctl: [16, 29],
  // Reserves gigabytes at once, faster than any watch of the disk. Libraries then write zeros.
  fallocate: [285, 47],
} as const satisfies Record<string, Numbers>;

/** The newest call that this table was checked against. Newer ones do not exist for sandboxed programs. */
export const newestCall = 462;
