import { visible } from '../../../session/text.ts'
import { Boundary } from '../../../ui/boundary.tsx'
import { t } from '../../../ui/messages.ts'
import { Json } from '../../../ui/text.tsx'
import { parseExact } from './exact-json.ts'
import { Markdown, Table } from './markdown.tsx'
import { Tree } from './tree.tsx'

type Fields = Record<string, unknown>

const IMAGES = /^image\/(png|jpeg|gif|webp|avif)$/

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Images within blocks, as MCP and A2A write them: base64 with its type. Addresses aren't loaded. */
const imagesIn = (value: unknown, depth = 0): string[] => {
  if (depth > 6) return []
  if (Array.isArray(value)) return value.flatMap((one) => imagesIn(one, depth + 1))
  if (!isObject(value)) return []
  const [type, data] = [value.mimeType ?? value.mediaType, value.data ?? value.raw]
  if (typeof type === 'string' && IMAGES.test(type) && typeof data === 'string' && /^[\w+/=-]+$/.test(data))
    return [`data:${type};base64,${data}`]
  return Object.values(value).flatMap((one) => imagesIn(one, depth + 1))
}

/** Fields whose text is written for people. */
const PROSE = ['text', 'markdown', 'message', 'summary', 'answer', 'report']

/** Most rows that are shown as a table, and its columns. */
const MOST_ROWS = 200
const MOST_COLUMNS = 12

/** Columns of a list whose items are objects without further objects; undefined for any other value. */
const columnsOf = (value: unknown): string[] | undefined => {
  if (!Array.isArray(value) || value.length < 2 || value.length > MOST_ROWS || !value.every(isObject)) return undefined
  const names = [...new Set(value.flatMap((row) => Object.keys(row)))]
  const isFlat = value.every((row) => Object.values(row).every((cell) => typeof cell !== 'object' || cell === null))
  return isFlat && names.length > 0 && names.length <= MOST_COLUMNS ? names : undefined
}

const Formatted = ({ value, label }: { value: Fields; label: string }) => {
  const entries = Object.entries(value)
  const prose = entries.filter(([name, one]) => PROSE.includes(name) && typeof one === 'string')
  const tables = entries.flatMap(([name, one]) => {
    const columns = columnsOf(one)
    return columns ? [{ name, columns, rows: one as Fields[] }] : []
  })
  const images = imagesIn(value)
  const shown = new Set([...prose.map(([name]) => name), ...tables.map(({ name }) => name)])
  const rest = entries.filter(([name]) => !shown.has(name))
  const json = JSON.stringify(Object.fromEntries(rest), (_, one) =>
    typeof one === 'string' && images.length > 0 && one.length > 1_000 && images.some((image) => image.endsWith(one))
      ? t('shown as an image')
      : one,
  )
  const tree = rest.length > 0 ? parseExact(json) : undefined
  return (
    <>
      {prose.map(([name, text]) => (
        <Markdown key={name} text={text as string} />
      ))}
      {images.map((source, i) => (
        <img
          key={i}
          class="output-image"
          src={source}
          alt={t('Result {value}, as the agent made it', { value: i + 1 })}
        />
      ))}
      {tables.map(({ name, columns, rows }) => (
        <div key={name}>
          <p class="hint">{visible(name)}</p>
          <Table
            label={visible(name)}
            head={columns.map(visible)}
            rows={rows.map((row) =>
              columns.map((column) => (Object.hasOwn(row, column) ? visible(String(row[column])) : '')),
            )}
          />
        </div>
      ))}
      {tree ? <Tree value={tree} /> : rest.length > 0 && <Json label={label} value={Object.fromEntries(rest)} />}
    </>
  )
}

/**
 * An object that an agent was given or answered with: texts as Markdown, lists of records as tables, images, and all else as a
 * tree. The tree of the rest is exact, and the whole is in the run's JSON.
 */
export const Rendered = ({ value, label }: { value: Fields; label: string }) => (
  <Boundary kind="text" about={value} text={() => JSON.stringify(value, null, 2)}>
    <Formatted value={value} label={label} />
  </Boundary>
)
