import { expect, it } from 'vitest'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const send = (body: unknown) => platform.call('POST', '/api/v1/dev/docs/feedback', { body })

it('logs what a reader answers, without anything about the reader', async () => {
  const before = platform.logs.length
  expect((await send({ page: 'quickstart', helpful: false, comment: 'Which Python?' })).status).toBe(204)
  const lines = platform.logs.slice(before).filter((line) => line.includes('feedback on the documentation'))
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ page: 'quickstart', helpful: false, comment: 'Which Python?' })
  expect(lines[0]).not.toMatch(/address|user_agent/)
})

it('refuses other pages’ names, other fields and long comments', async () => {
  for (const body of [
    { page: '../x', helpful: true },
    { page: 'quickstart', helpful: 'yes' },
    { page: 'quickstart', helpful: true, email: 'ada@example.com' },
    { page: 'quickstart', helpful: true, comment: 'x'.repeat(501) },
  ])
    expect((await send(body)).status, JSON.stringify(body)).toBe(422)
})
