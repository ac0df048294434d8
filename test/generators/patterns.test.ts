import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { type PatternCase, readPatternCases, VECTORS } from '../local/pattern-cases.ts'

const place = scratchFolder('patterns-')
afterAll(() => place.remove())
const run = promisify(execFile)

/** Asks Event Ruler which events match each pattern, or why it refuses the pattern. */
const answersTo = async (cases: readonly PatternCase[]): Promise<string[]> => {
  cpSync(path.join(ROOT, 'test/generators/patterns'), place.folder, { recursive: true })
  await run('mvn', ['--batch-mode', '--quiet', 'dependency:copy-dependencies'], { cwd: place.folder })
  const asked = run('java', ['-cp', 'target/dependency/*', 'Answers.java'], { cwd: place.folder })
  asked.child.stdin?.end(cases.map(({ pattern, events }) => `${JSON.stringify({ pattern, events })}\n`).join(''))
  const { stdout } = await asked
  return stdout.trim().split('\n')
}

it('Event Ruler answers each recorded pattern as it is recorded', async () => {
  const cases = readPatternCases()
  const answers = await answersTo(cases)
  const text = cases
    .map(({ pattern, events }, i) => `${JSON.stringify({ pattern, events, ...JSON.parse(answers[i] ?? '') })}\n`)
    .join('')
  if (process.env.RECORD) writeFileSync(VECTORS, text)
  expect(text).toBe(readFileSync(VECTORS, 'utf8'))
})
