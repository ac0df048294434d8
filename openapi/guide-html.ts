import { Marked, type Tokens } from 'marked'
import { escapeHtml } from './escape-html.ts'
import { type Guide, START } from './guides.ts'

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
const captionOf = (info: string): string => {
  const [language = '', word = ''] = info.split(/ (.*)/s)
  const [, file] = /^file=(\S+)$/.exec(word) ?? []
  if (file) return `<code>${escapeHtml(file)}</code>`
  if (word === 'answer') return 'Response'
  return language === 'sh' ? 'Terminal' : escapeHtml(language)
}

/** Renders a guide as HTML and returns its headings. Guides are part of this repository, so their source is trusted. */
export const renderGuide = ({ name, markdown }: Guide): { html: string; headings: Heading[] } => {
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
      code({ text, lang = '' }: Tokens.Code) {
        // Scrollable blocks must be reachable by keyboard.
        return `<figure class="code"><figcaption>${captionOf(lang)}</figcaption><pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escapeHtml(addressFor(href, up))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  const html = (marked.parse(markdown, { async: false }) as string)
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<th>', '<th scope="col">')
  return { html, headings }
}
