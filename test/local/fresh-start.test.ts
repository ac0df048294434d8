import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { killAll, npmStart } from './npm-start.ts'
import { temporaryFolder, until } from './support.ts'

/** All that the command reads. */
const SOURCES =
  'cdk.json CHANGELOG.md LICENSE cli docs examples functions infra local openapi ops package.json package-lock.json packages shared tsconfig.json web'

let place: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  place = temporaryFolder()
  for (const name of SOURCES.split(' '))
    cpSync(path.join(ROOT, name), path.join(place.folder, name), { recursive: true })
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(place.folder, 'node_modules'))
})
afterEach(() => {
  killAll()
  place.remove()
})

const PAGES = [
  '/app',
  '/app/mini-app',
  '/developers',
  '/docs',
  '/docs/reference',
  '/openapi.json',
  '/openapi/developer.json',
].concat([
  '/packages',
  '/packages/npm/@agent-integration-platform/cli',
  '/llms.txt',
  '/llms-full.txt',
  '/api/v1/dev/sdk/examples',
  '/api/v1/dev/sdk/examples/main.py',
])

test('in a new folder, the API answers while pages are built, requests for them wait, and an error is shown until it is fixed', async () => {
  const source = path.join(place.folder, 'web/admin/client/main.tsx')
  const correct = readFileSync(source, 'utf8')
  appendFileSync(source, '\nconst = 1\n')

  const { baseUrl, lines } = await npmStart(['--fresh', '--watch', '--port', '0'], {
    cwd: place.folder,
    env: { DATA_DIR: path.join(place.folder, '.local') },
  })
  expect(lines.at(-1)).toContain('pages are being built')
  const get = async (page: string) => {
    for (;;) {
      const response = await fetch(`${baseUrl}${page}`)
      const text = await response.text()
      // A slow machine builds for longer than a request waits, and is told to try again.
      if (!/takes long\. Reload/.test(text)) return { page, status: response.status, text }
    }
  }
  expect((await get('/api/v1/me')).status).toBe(401)
  expect(lines.join()).not.toContain('are built')

  const answers = await Promise.all([...PAGES, '/staff'].map(get))
  expect(answers.filter(({ status }) => status !== 200).map(({ page }) => page)).toEqual(['/staff'])
  const [script = ''] = /assets\/[^"]+\.js/.exec(answers[0]?.text ?? '') ?? []
  expect((await get(`/app/${script}`)).status).toBe(200)
  expect(answers.at(-1)).toMatchObject({
    status: 503,
    text: expect.stringMatching(/^Building the staff’s page failed.*main\.tsx/s),
  })
  expect(lines.join()).toMatch(/building the staff’s page failed.*main\.tsx/s)

  writeFileSync(source, correct)
  await until(async () => ((await get('/staff')).status === 200 ? true : undefined))
})
