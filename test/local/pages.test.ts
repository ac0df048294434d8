import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { createPages } from '#local/pages.ts'

const RESULT = { kind: 'value', value: { statusCode: 200 }, bytes: 0 } as const
const open = (waitMs?: number) => {
  const reports: string[] = []
  const pages = createPages((reason) => reports.push(reason), waitMs)
  const get = (path: string) => pages.intercept({ path }, async () => RESULT)
  return { pages, reports, get }
}

describe('pages that are still being built', () => {
  test.each(['/', '/.well-known/oauth-authorization-server', '/schemas/manifest.json', '/brand.css'])(
    'don’t hold up %s, which needs no build',
    async (path) => expect(await open().get(path)).toBe(RESULT),
  )

  test('are answered as soon as their own part is built', async () => {
    const { pages, get } = open()
    const answer = get('/app/assets/main.js')
    pages.built('console')
    expect(await answer).toBe(RESULT)
  })

  test('are answered with what to do if the build takes too long', async () => {
    const { get } = open(1)
    expect(await get('/docs')).toMatchObject({
      value: { statusCode: 503, body: 'Building the documentation takes long. Reload this page in a moment.' },
    })
  })

  test('are answered in a stream where the function streams: the packages', async () => {
    const answer = await open(1).get('/packages/npm/@example%2fcli')
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const [prelude = '', body] = (await text(answer.body)).split('\0'.repeat(8))
    expect([JSON.parse(prelude).statusCode, body]).toEqual([
      503,
      'Building the packages takes long. Reload this page in a moment.',
    ])
  })

  test('show and report the error of a failed build until a later one succeeds', async () => {
    const { pages, reports, get } = open()
    pages.built('console', 'main.tsx:1 is wrong')
    expect(reports).toEqual(['building the console failed:\nmain.tsx:1 is wrong'])
    const body = 'Building the console failed:\n\nmain.tsx:1 is wrong'
    expect(await get('/app')).toMatchObject({ value: { statusCode: 503, body } })
    pages.built('console')
    expect(await get('/app')).toBe(RESULT)
  })
})
