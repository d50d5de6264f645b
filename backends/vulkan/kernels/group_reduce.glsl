// What the WIDTH invocations of a work group make of one number each: a tree
// in shared memory, whose order is always the same. WIDTH is a power of two.
shared float partials[256];

#define GROUP_REDUCE(name, expression)                                \
  float name(float mine) {                                            \
    const uint me = gl_LocalInvocationID.x;                           \
    barrier();                                                        \
    partials[me] = mine;                                              \
    for (uint step = WIDTH / 2; step > 0; step /= 2) {                \
      barrier();                                                      \
      if (me < step) {                                                \
        const float a = partials[me];                                 \
        const float b = partials[me + step];                          \
        partials[me] = expression;                                    \
      }                                                               \
    }                                                                 \
    barrier();                                                        \
    return partials[0];                                               \
  }
GROUP_REDUCE(GroupSum, a + b)
GROUP_REDUCE(GroupMax, a < b || IsNan(b) ? b : a)
