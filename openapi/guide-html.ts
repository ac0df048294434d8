import { Marked, type Token, type Tokens } from 'marked'
import { escapeHtml } from '#shared/kernel/escape-html.ts'
import { type CodeInfo, parseCodeInfo } from './code-blocks.ts'
import { type Guide, START } from './guides.ts'
import { highlight } from './highlight.ts'

/** A heading, for a page's table of contents. */
export interface Heading {
  id: string
  text: string
  depth: number
}

/** Builds an anchor as GitHub does: lower case, with `-` for spaces. Error codes stay as they are. */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const BASE = '{{base_url}}/'

/**
 * Converts a link of a guide’s Markdown for its page. Links are relative, so that they also work under a stage’s path prefix.
 * @param up relative path from the page to the platform’s base address
 */
const addressFor = (href: string, up: string): string => {
  if (href.startsWith(BASE)) return up + href.slice(BASE.length)
  const [, name, part = ''] = /^([a-z0-9-]+)\.md(#.+)?$/.exec(href) ?? []
  return name === undefined ? href : `${up}docs/${name}${part}`
}

/** Returns a code block's caption: its file name, its language, or that it is a response. */
const captionOf = ({ file, isAnswer, tab, language }: CodeInfo): string => {
  if (file) return `<code>${escapeHtml(file)}</code>`
  if (isAnswer) return 'Response'
  return escapeHtml(tab ?? LANGUAGE_NAMES[language] ?? language)
}

const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
  sh: 'Terminal',
  json: 'JSON',
  http: 'HTTP',
  html: 'HTML',
  java: 'Java',
  properties: 'Properties',
  xml: 'XML',
}

/** Renders a code block. It can be scrolled by keyboard. */
const renderCode = ({ text, lang = '' }: Pick<Tokens.Code, 'text' | 'lang'>): string => {
  const info = parseCodeInfo(lang)
  const tab = info.tab === undefined ? '' : ` data-tab="${escapeHtml(info.tab)}"`
  return `<figure class="code"${tab}><figcaption>${captionOf(info)}</figcaption><pre tabindex="0"><code>${highlight(text, info.language)}</code></pre></figure>\n`
}

/** Joins code blocks that follow each other and show the same in several languages. The page's script makes tabs of them. */
const joinTabs = (tokens: readonly Token[]): Token[] => {
  const joined: Token[] = []
  let group: Tokens.Code[] = []
  const close = () => {
    if (group.length > 1) {
      const text = `<div class="tabs">\n${group.map(renderCode).join('')}</div>\n`
      joined.push({ type: 'html', block: true, pre: false, raw: text, text })
    } else joined.push(...group)
    group = []
  }
  for (const token of tokens) {
    if (token.type === 'space') continue
    const tab = token.type === 'code' ? parseCodeInfo((token as Tokens.Code).lang ?? '').tab : undefined
    const isOther = tab !== undefined && !group.some(({ lang = '' }) => parseCodeInfo(lang).tab === tab)
    if (!isOther) close()
    if (tab === undefined) joined.push(token)
    else group.push(token as Tokens.Code)
  }
  close()
  return joined
}

/** Renders a guide as HTML and returns its headings. Guides are part of this repository, so their source is trusted. */
export const renderGuide = ({
  name,
  markdown,
}: Pick<Guide, 'name' | 'markdown'>): { html: string; headings: Heading[] } => {
  const up = name === START ? '' : '../'
  const headings: Heading[] = []
  const taken = new Map<string, number>()
  const idOf = (text: string): string => {
    const anchor = slug(text)
    const count = taken.get(anchor) ?? 0
    taken.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = depth === 1 ? 'overview' : idOf(text.replaceAll('`', ''))
        headings.push({ id, text: text.replaceAll('`', ''), depth })
        const link =
          depth === 2 ? ` <a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(text)}”">#</a>` : ''
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`
      },
      code: renderCode,
      // A list to tick off on paper or in one's head, not a control.
      checkbox: () => '<span aria-hidden="true">☐</span> ',
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escapeHtml(addressFor(href, up))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  const html = marked
    .parser(joinTabs(marked.lexer(markdown)))
    .replaceAll(/<table[^>]*>/g, '<div class="table" tabindex="0">$&')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<th>', '<th scope="col">')
  return { html, headings }
}
