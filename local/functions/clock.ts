const real = Date
let offset = 0
let shifted: DateConstructor | undefined

const now = () => real.now() + offset

/** Creates a `Date` that differs from the real one only in its clock. */
const createShifted = (): DateConstructor =>
  new Proxy(real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget === shifted ? target : newTarget),
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })

/** Returns the real time, whatever the shift. */
export const realNow = (): number => real.now()

/**
 * Shifts this thread's `Date` by a number of milliseconds. Timers and `performance` aren't affected, as on a host whose
 * clock is set.
 */
export const shiftClock = (offsetMs: number): void => {
  offset = offsetMs
  shifted ??= createShifted()
  globalThis.Date = shifted
}
