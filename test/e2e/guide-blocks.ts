import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ROOT } from '#local/prepare.ts'
import { type CodeInfo, parseCodeInfo } from '#openapi/code-blocks.ts'

/** One fenced block of a guide. */
export interface Block extends CodeInfo {
  /** The guide’s name. */
  guide: string
  code: string
  line: number
}

const FENCE = /^```(\S.*)$/

/** Reads the fenced blocks of `docs/guides/<name>.md`, in order. */
export const blocksOf = (name: string): Block[] => {
  const lines = readFileSync(path.join(ROOT, 'docs', 'guides', `${name}.md`), 'utf8').split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, info] = FENCE.exec(lines[at] ?? '') ?? []
    if (info === undefined) continue
    const end = lines.indexOf('```', at)
    blocks.push({
      guide: name,
      ...parseCodeInfo(info),
      code: lines.slice(at + 1, end).join('\n'),
      line: at + 1,
    })
    at = end
  }
  return blocks
}

/** Returns how a block is tested; undefined when the guide doesn't say. */
export const kindOf = ({
  language,
  isAnswer,
  rest,
  file,
  notRun,
}: Block): 'run' | 'file' | 'answer' | 'not run' | undefined => {
  if (notRun) return 'not run'
  if (file) return 'file'
  if (language === 'json' && isAnswer) return 'answer'
  return language === 'sh' && rest === '' ? 'run' : undefined
}

/** Output of a block. */
export interface Printed {
  block: Block
  output: string
  seconds: number
}

const MARK = '-----8<----- block '

/**
 * Runs the shell blocks of guides in order in one bash, in their own folder with the files that the reader saves. A
 * failing command ends the script, and background programs end with it.
 * @param place puts the test’s addresses into a text of the guide
 * @param env further variables of the reader's environment
 * @throws with the line of the failed block and its output
 */
export const runBlocks = async (
  blocks: readonly Block[],
  folder: string,
  place: (text: string) => string,
  env: NodeJS.ProcessEnv = {},
): Promise<Printed[]> => {
  for (const { file, code } of blocks) if (file) await writeFile(path.join(folder, file), `${place(code)}\n`)
  const runnable = blocks.filter((block) => kindOf(block) === 'run')
  const script = [
    'set -euo pipefail',
    // Makes API errors fail here; readers see their body.
    'curl() { command curl --fail-with-body --max-time 60 "$@"; }',
    `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`,
    ...runnable.flatMap(({ guide, code, line }) => [`printf '\\n%s%s\\n' '${MARK}' ${guide}.md:${line}`, place(code)]),
  ].join('\n')
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, NO_PROXY: '*', PYTHONDONTWRITEBYTECODE: '1', LC_ALL: 'C.UTF-8' },
      ...env,
    },
  })
  let printed = ''
  let errors = ''
  const begun: number[] = []
  child.stdout.on('data', (piece: Buffer) => {
    printed += piece
    const marks = printed.split(`\n${MARK}`).length - 1
    while (begun.length < marks) begun.push(performance.now())
  })
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece
  })
  const [code] = await once(child, 'close')
  begun.push(performance.now())
  const parts = printed.split(`\n${MARK}`).slice(1)
  if (code !== 0) {
    throw new Error(`the block at ${parts.at(-1)?.split('\n')[0]} ended with ${code}: ${parts.at(-1)}\n${errors}`)
  }
  return parts.map((part, index) => {
    const block = runnable[index]
    if (!block) throw new Error(`no block printed ${part}`)
    const seconds = ((begun[index + 1] ?? 0) - (begun[index] ?? 0)) / 1_000
    return { block, output: part.slice(part.indexOf('\n') + 1).trim(), seconds }
  })
}

/**
 * Lists where an answer lacks what the guide shows. Fields and their types have to exist, and texts have to match,
 * except for ids, secrets (`…`), times and addresses. An answer may have more fields.
 */
export const findDifferences = (shown: unknown, got: unknown, at = ''): string[] => {
  if (Array.isArray(shown)) {
    if (!Array.isArray(got)) return [`${at} is not a list`]
    if (shown.length === 0) return got.length === 0 ? [] : [`${at} is not empty`]
    return shown.flatMap((one, index) => findDifferences(one, got[index], `${at}/${index}`))
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof got !== 'object' || got === null) return [`${at} is not an object`]
    return Object.entries(shown).flatMap(([name, one]) =>
      name in got
        ? findDifferences(one, (got as Record<string, unknown>)[name], `${at}/${name}`)
        : [`${at}/${name} is missing`],
    )
  }
  if (typeof shown === 'string' && typeof got === 'string') {
    const begins =
      /^([a-z]+_)(?:[0-9a-z]{26}|…)$/.exec(shown)?.[1] ?? (shown.endsWith('…') ? shown.slice(0, -1) : undefined)
    const free = /^\d{4}-\d\d-\d\dT|^https?:/.test(shown)
    const same = begins === undefined ? free || shown === got : got.startsWith(begins)
    return same ? [] : [`${at} is ${got}, not ${shown}`]
  }
  return shown === got ? [] : [`${at} is ${got}, not ${shown}`]
}

/** Lists the answers that a guide shows, each with the output of the block before it. */
export const answersOf = (blocks: readonly Block[], printed: readonly Printed[]): { shown: Block; output: string }[] =>
  blocks.flatMap((shown, index) => {
    if (kindOf(shown) !== 'answer') return []
    const before = blocks.slice(0, index).findLast((block) => kindOf(block) === 'run')
    return [{ shown, output: printed.find(({ block }) => block === before)?.output ?? '' }]
  })
