import type { ComponentChildren } from 'preact'
import { safeUrl, sanitize } from '../session/text.ts'
import { t } from './messages.ts'

/**
 * A safe subset of Markdown, rendered as elements and never as HTML: headings, paragraphs, emphasis, code, links, lists, quotes,
 * tables and rules. Everything else stays text. Images become links, because their address would be requested.
 */
export const Markdown = ({ text }: { text: string }) => (
  <div class="markdown" dir="auto">
    {blocks(text.replaceAll('\r\n', '\n').split('\n'), 0)}
  </div>
)

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/
const QUOTE = /^ {0,3}> ?/
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)]) +(.*)$/
const DIVIDER = /^ {0,3}\|?( *:?-+:? *\|)+( *:?-+:? *)?$/

/** Deepest quote or list within others that has a form of its own. */
const DEEPEST = 8

const starts = (line: string): boolean =>
  [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line)) || line.trim() === ''

const blocks = (lines: readonly string[], depth: number): ComponentChildren[] => {
  const found: ComponentChildren[] = []
  let at = 0
  const takeWhile = (test: (line: string, i: number) => boolean): string[] => {
    const from = at
    while (at < lines.length && test(lines[at] ?? '', at - from)) at++
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const fence = FENCE.exec(line)
    const heading = HEADING.exec(line)
    if (line.trim() === '') at++
    else if (fence) {
      at++
      const mark = fence[1] ?? '```'
      const code = takeWhile((one) => !(one.trim().startsWith(mark) && one.trim().replaceAll(mark[0] ?? '', '') === ''))
      at++
      found.push(<Code key={at} text={code.join('\n')} language={fence[2] ?? ''} />)
    } else if (heading) {
      at++
      // The page has headings of its own, whose order a text must not break.
      found.push(
        <p key={at} class={`title title-${heading[1]?.length}`}>
          <strong>{inline(heading[2] ?? '')}</strong>
        </p>,
      )
    } else if (RULE.test(line)) {
      at++
      found.push(<hr key={at} />)
    } else if (QUOTE.test(line) && depth < DEEPEST) {
      const quoted = takeWhile((one) => QUOTE.test(one)).map((one) => one.replace(QUOTE, ''))
      found.push(<blockquote key={at}>{blocks(quoted, depth + 1)}</blockquote>)
    } else if (ITEM.test(line) && depth < DEEPEST) {
      found.push(<List key={at} lines={takeList()} depth={depth} />)
    } else if (line.includes('|') && DIVIDER.test(lines[at + 1] ?? '')) {
      found.push(<Grid key={at} lines={takeWhile((one) => one.trim() !== '' && one.includes('|'))} />)
    } else {
      const text = takeWhile((one, i) => i === 0 || !starts(one))
      found.push(<p key={at}>{inline(text.join('\n'))}</p>)
    }
  }
  return found

  /** Takes the items of a list with the lines that belong to them. */
  function takeList(): string[] {
    const isOrdered = /\d/.test(ITEM.exec(lines[at] ?? '')?.[2] ?? '')
    return takeWhile((one, i) => {
      if (i === 0 || /^ {2,}\S/.test(one)) return true
      const item = ITEM.exec(one)
      if (item) return /\d/.test(item[2] ?? '') === isOrdered
      const before = lines[at - 1] ?? ''
      return one.trim() === ''
        ? /^ {2,}\S/.test(lines[at + 1] ?? '') || ITEM.test(lines[at + 1] ?? '')
        : before.trim() !== '' && !starts(one)
    })
  }
}

const List = ({ lines, depth }: { lines: readonly string[]; depth: number }) => {
  const items: string[][] = []
  for (const line of lines) {
    const item = ITEM.exec(line)
    if (item && (items.length === 0 || (item[1]?.length ?? 0) < 2)) items.push([item[4] ?? ''])
    else items.at(-1)?.push(line.replace(/^ {1,4}/, ''))
  }
  const body = items.map((item, i) => (
    <li key={i}>{item.length > 1 ? blocks(item, depth + 1) : inline(item[0] ?? '')}</li>
  ))
  const first = ITEM.exec(lines[0] ?? '')?.[3]
  return first === undefined ? <ul>{body}</ul> : <ol start={Number(first)}>{body}</ol>
}

const cells = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

const Grid = ({ lines: [head = '', , ...rows] }: { lines: readonly string[] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable with the keyboard
  <section class="table-scroll" tabIndex={0} aria-label={t('Table')}>
    <table>
      <thead>
        <tr>
          {cells(head).map((cell, i) => (
            <th key={i} scope="col">
              {inline(cell)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {cells(row).map((cell, j) => (
              <td key={j}>{inline(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

const Code = ({ text, language }: { text: string; language: string }) => (
  <section
    class="json"
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable with the keyboard
    tabIndex={0}
    aria-label={language ? t('Code in {language}', { language: sanitize(language) }) : t('Code')}
  >
    <pre>{text.split('\n').map(sanitize).join('\n')}</pre>
  </section>
)

/** Code, links and images, emphasis, and addresses on their own. The text before a match has none of them. */
const INLINE =
  /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|!?\[([^\]\n]{1,500})\]\(([^()\s]{1,2000})(?: "[^"\n]*")?\)|(\*\*|__)(?=\S)([\s\S]{1,2000}?\S)\5|(?<![\w*])([*_])(?=\S)([^*_\n]{0,500}?\S)\7(?![\w*])|~~(?=\S)([^~\n]{1,500})~~|(https?:\/\/[^\s<>()[\]"']{1,2000}[^\s<>()[\]"'.,;:!?])/

const inline = (text: string): ComponentChildren[] => {
  const found: ComponentChildren[] = []
  let rest = text
  while (rest) {
    const match = INLINE.exec(rest)
    if (!match) break
    if (match.index > 0) found.push(words(rest.slice(0, match.index)))
    const [whole, ticks, code, label, url, strong, bold, , light, struck, address] = match
    const key = found.length
    if (ticks) found.push(<code key={key}>{sanitize(code ?? '')}</code>)
    else if (label !== undefined) found.push(<Link key={key} url={url ?? ''} label={label} />)
    else if (strong) found.push(<strong key={key}>{inline(bold ?? '')}</strong>)
    else if (light !== undefined) found.push(<em key={key}>{inline(light)}</em>)
    else if (struck !== undefined) found.push(<s key={key}>{inline(struck)}</s>)
    else if (address) found.push(<Link key={key} url={address} label={address} />)
    rest = rest.slice(match.index + whole.length)
  }
  if (rest) found.push(words(rest))
  return found
}

/** Text with its line breaks, and deceptive characters made visible. */
const words = (text: string): string =>
  text
    .split('\n')
    .map((line) => sanitize(line.replaceAll('\t', '  ')))
    .join('\n')

/** A link that names its host, unless the label does, because a label can claim anything. */
const Link = ({ url, label }: { url: string; label: string }) => {
  const address = /^https?:\/\//i.test(url) ? safeUrl(url) : undefined
  if (!address) return <>{words(label)}</>
  const { host } = new URL(address)
  return (
    <a href={address} target="_blank" rel="noreferrer noopener">
      {words(label)}
      {!label.includes(host) && <span class="soft"> ({sanitize(host)})</span>}
    </a>
  )
}
