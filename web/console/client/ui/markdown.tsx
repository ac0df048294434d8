import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { parseAddress, sanitize } from '../../../session/text.ts'
import { Boundary } from '../../../ui/boundary.tsx'
import { t } from '../../../ui/messages.ts'
import { useScript } from '../../../ui/script.ts'

/**
 * Shows a safe subset of Markdown as elements: headings, lists, quotes, tables, code, emphasis and links. Markup, images and
 * everything else stay text, so that a message can't load anything or look like the page itself.
 */

/** Inline parts, tried in this order at every place of a line. */
const INLINE =
  /`([^`\n]+)`|\*\*(?=\S)(.+?\S?)\*\*|~~(?=\S)(.+?)~~|(?<![\w*])\*(?=[^\s*])([^*\n]+?)\*(?![\w*])|(?<!\w)_(?=[^\s_])([^_\n]+?)_(?!\w)|\[([^\]\n]{1,300})\]\((https?:\/\/[^\s()<>]{1,2000})\)|(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?()[\]{}])/u

/** Reports whether a label is the address that its link leads to, beginning with the host as it is looked up. */
const isAddress = (label: string, { href, origin }: URL): boolean =>
  parseAddress(label)?.href === href && label.toLowerCase().startsWith(origin)

/** A link with its host, because the label may claim another one. An address that can't be opened stays `written` as it was. */
const External = ({ to, label, written }: { to: string; label: string; written: string }) => {
  const url = parseAddress(to)
  if (!url) return <>{sanitize(written)}</>
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow">
      {sanitize(label)}
      {!isAddress(label, url) && (
        <span class="soft">
          {' '}
          (<bdi>{url.host}</bdi>)
        </span>
      )}
    </a>
  )
}

/** Deepest nesting of emphasis. What is nested deeper stays text. */
const DEEPEST = 4

const inline = (text: string, depth = 0): ComponentChildren[] => {
  const parts: ComponentChildren[] = []
  let rest = text
  while (rest) {
    const found = depth < DEEPEST ? INLINE.exec(rest) : null
    if (!found) break
    if (found.index > 0) parts.push(sanitize(rest.slice(0, found.index)))
    const [whole, code, strong, gone, star, line, label, target, bare] = found
    const soft = star ?? line
    if (code !== undefined) parts.push(<code>{sanitize(code)}</code>)
    else if (strong !== undefined) parts.push(<strong>{inline(strong, depth + 1)}</strong>)
    else if (gone !== undefined) parts.push(<del>{inline(gone, depth + 1)}</del>)
    else if (soft !== undefined) parts.push(<em>{inline(soft, depth + 1)}</em>)
    else if (label !== undefined && target !== undefined) {
      parts.push(<External to={target} label={label} written={whole} />)
    } else if (bare !== undefined) parts.push(<External to={bare} label={bare} written={bare} />)
    rest = rest.slice(found.index + whole.length)
  }
  if (rest) parts.push(sanitize(rest))
  return parts
}

const lines = (texts: readonly string[]): ComponentChildren =>
  texts.map((text, i) => (
    <>
      {i > 0 && <br />}
      {inline(text)}
    </>
  ))

const loadHighlight = () => import('./highlight.tsx')

/** Code. Its colours come with a script that loads when code is first shown. */
const Code = ({ text, language }: { text: string; language: string }) => {
  const { script } = useScript(loadHighlight)
  const [copied, setCopied] = useState(false)
  const clean = text.split('\n').map(sanitize).join('\n')
  return (
    <div class="code">
      <p class="bar-line">
        <span>{sanitize(language) || t('Code')}</span>
        <button
          type="button"
          class="quiet small"
          onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
        >
          {copied ? t('Copied') : t('Copy')}
        </button>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area that the keyboard has to reach */}
      <pre tabIndex={0}>
        <code>{script ? <script.Highlight text={clean} language={language} /> : clean}</code>
      </pre>
    </div>
  )
}

const cells = (row: string): string[] =>
  row
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

type Alignment = 'center' | 'end' | undefined

/** Reads the alignment of a table's column from its divider: `:-:` or `--:`. */
const alignmentOf = (divider: string): Alignment =>
  divider.endsWith(':') ? (divider.startsWith(':') ? 'center' : 'end') : undefined

/** A table that scrolls sideways by itself. */
export const Table = ({
  label,
  head,
  rows,
  align = [],
}: {
  label: string
  head: readonly ComponentChildren[]
  rows: readonly (readonly ComponentChildren[])[]
  align?: readonly Alignment[]
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area that the keyboard has to reach
  <section class="table" tabIndex={0} aria-label={label}>
    <table>
      <thead>
        <tr>
          {head.map((cell, i) => (
            <th key={i} scope="col" class={align[i]}>
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {row.map((cell, j) => (
              <td key={j} class={align[j]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/
const HEADING = /^ {0,3}(#{1,6})\s+(.+?)\s*#*$/
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/
const TASK = /^\[([ xX])\]\s+/
const QUOTE = /^ {0,3}> ?(.*)$/
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/

const isTable = (rows: readonly string[], at: number): boolean =>
  (rows[at]?.includes('|') ?? false) && (rows[at + 1]?.includes('|') ?? false) && DIVIDER.test(rows[at + 1] ?? '')

const startsBlock = (rows: readonly string[], at: number): boolean => {
  const row = rows[at] ?? ''
  return [FENCE, HEADING, ITEM, QUOTE, RULE].some((one) => one.test(row)) || isTable(rows, at)
}

/** A list with the lists nested in its items. */
const list = (rows: readonly string[], depth: number): ComponentChildren => {
  const indent = rows[0]?.match(ITEM)?.[1]?.length ?? 0
  const items: string[][] = []
  for (const row of rows) {
    const item = ITEM.exec(row)
    if (item && (item[1]?.length ?? 0) <= indent + 1) items.push([item[3] ?? ''])
    else items.at(-1)?.push(row.slice(Math.min(indent + 2, row.length - row.trimStart().length)))
  }
  const number = rows[0]?.match(ITEM)?.[2]
  const shown = items.map((own, i) => {
    const [first = '', ...others] = own
    const task = TASK.exec(first)
    if (!task) return <li key={i}>{blocks(own, depth + 1)}</li>
    const isDone = task[1] !== ' '
    return (
      <li key={i} class="todo">
        <span class={isDone ? 'box done' : 'box'} role="img" aria-label={isDone ? t('Done') : t('Not done')} />
        {blocks([first.slice(task[0].length), ...others], depth + 1)}
      </li>
    )
  })
  return number === undefined ? <ul>{shown}</ul> : <ol start={Number(number)}>{shown}</ol>
}

const blocks = (rows: readonly string[], depth = 0): ComponentChildren[] => {
  const found: ComponentChildren[] = []
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] ?? ''
    const begin = at
    const take = (goesOn: (row: string, i: number) => boolean): readonly string[] => {
      at += 1
      while (at < rows.length && goesOn(rows[at] ?? '', at)) at += 1
      return rows.slice(begin, at)
    }
    const fence = FENCE.exec(row)
    const heading = HEADING.exec(row)
    if (row.trim() === '') at += 1
    else if (fence) {
      const mark = fence[1] ?? '```'
      const [, ...body] = take((one) => !one.trim().startsWith(mark))
      at += 1
      found.push(<Code text={body.join('\n')} language={fence[2] ?? ''} />)
    } else if (heading) {
      at += 1
      // Not a heading of the page, whose outline belongs to the page.
      found.push(<p class={`title title-${heading[1]?.length}`}>{inline(heading[2] ?? '')}</p>)
    } else if (RULE.test(row)) {
      at += 1
      found.push(<hr />)
    } else if (isTable(rows, at)) {
      const [head = [], dividers = [], ...body] = take((one) => one.includes('|')).map(cells)
      const shown = (row: readonly string[]) => row.map((cell) => inline(cell))
      found.push(
        <Table label={t('Table')} head={shown(head)} rows={body.map(shown)} align={dividers.map(alignmentOf)} />,
      )
    } else if (QUOTE.test(row) && depth < DEEPEST) {
      const quoted = take((one) => QUOTE.test(one)).map((one) => QUOTE.exec(one)?.[1] ?? '')
      found.push(<blockquote>{blocks(quoted, depth + 1)}</blockquote>)
    } else if (ITEM.test(row) && depth < DEEPEST) {
      found.push(
        list(
          take((one) => ITEM.test(one) || /^\s{2,}\S/.test(one)),
          depth,
        ),
      )
    } else found.push(<p>{lines(take((one, i) => one.trim() !== '' && !startsBlock(rows, i)))}</p>)
  }
  return found
}

const Formatted = ({ text }: { text: string }) => (
  <div class="markdown" dir="auto">
    {blocks(text.replaceAll('\t', '  ').split('\n'))}
  </div>
)

/** Text that an agent or a person wrote, as Markdown. */
export const Markdown = ({ text }: { text: string }) => (
  <Boundary kind="text" about={text} text={() => text}>
    <Formatted text={text} />
  </Boundary>
)
