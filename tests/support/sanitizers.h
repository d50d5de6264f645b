#ifndef TENSORD_TESTS_SUPPORT_SANITIZERS_H_
#define TENSORD_TESTS_SUPPORT_SANITIZERS_H_

// TENSORD_ADDRESS_SANITIZER and TENSORD_THREAD_SANITIZER: 1 where the file is
// compiled with it, else 0. GCC defines a macro, Clang answers a question; only
// Clang is asked, since headers of others define the question away for GCC.
#if defined(__clang__)
#define TENSORD_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define TENSORD_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define TENSORD_ADDRESS_SANITIZER 1
#else
#define TENSORD_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__)
#define TENSORD_THREAD_SANITIZER 1
#else
#define TENSORD_THREAD_SANITIZER 0
#endif
#endif

#endif  // TENSORD_TESTS_SUPPORT_SANITIZERS_H_
