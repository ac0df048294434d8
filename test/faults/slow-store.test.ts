import { afterEach, expect, it } from 'vitest'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const NAME = 'fails'

/** Fails calls of the store with an error of this kind. @param commands those that fail. Default: all */
const failWith = (error: object, commands?: RegExp) =>
  platform.store.client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        if (commands && !commands.test(commandName)) return next(args)
        throw Object.assign(new Error('the store failed'), error)
      },
    { step: 'initialize', priority: 'high', name: NAME },
  )

afterEach(() => void platform.store.client.middlewareStack.remove(NAME))

const UNANSWERED = [
  { name: 'TimeoutError' },
  { name: 'ThrottlingException' },
  { name: 'ProvisionedThroughputExceededException' },
  { name: 'InternalServerError' },
  { code: 'ECONNRESET' },
]

it.each(UNANSWERED)(
  'a request that the store fails with %o gets 503 with Retry-After, and nothing else of it',
  async (error) => {
    const { token } = await installed(platform.deps)
    failWith(error)
    const { status, headers, body, text } = await platform.call('GET', '/api/v1/me', { token })
    expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'unavailable', '5'])
    expect(text).not.toContain('the store failed')
  },
)

it('an unexpected error of the store is 500, without Retry-After', async () => {
  const { token } = await installed(platform.deps)
  failWith({ name: 'ValidationException' })
  const { status, headers } = await platform.call('GET', '/api/v1/me', { token })
  expect([status, headers['retry-after']]).toEqual([500, undefined])
})
