import { unlink } from '#shared/identity/mails/index.ts'
import { brandSignature } from '#shared/kernel/brand.ts'
import { languageOf, type Translate } from '#shared/kernel/messages.ts'
import { cleanName, cleanText } from '#shared/kernel/names.ts'
import type { MailMessage } from '#shared/kernel/ports/mail.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import { truncate } from '#shared/kernel/truncate.ts'

/** Part of an e-mail: a heading, a text that an agent or a person may have written, its sender, and a link. */
export interface MailPart {
  title: string
  body?: string
  /** Line that says who the text is from. */
  from?: string
  link?: { url: string; text: string }
}

/** Most characters of a title and a text. The console shows all of it. */
const TITLE = 200
const BODY = 600

const cut = (text: string, most: number): string => (text.length > most ? `${truncate(text, most)}…` : text)

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/**
 * Composes an e-mail in plain text and HTML. Texts of others are cut, and neither markup nor links.
 *
 * @param footer lines below the brand's signature
 */
export const composeMail = (
  { brand, baseUrl }: Pick<Settings, 'brand' | 'baseUrl'>,
  t: Translate,
  {
    to,
    locale,
    subject,
    parts,
    more,
    unsubscribe,
  }: {
    to: string
    locale: string
    subject: string
    parts: readonly MailPart[]
    /** Line after the parts. */
    more?: string
    /** Address that ends such e-mails. */
    unsubscribe?: string
  },
): MailMessage => {
  const shown = parts.map(({ title, body = '', from, link }) => ({
    title: cut(cleanName(title), TITLE),
    body: cut(cleanText(body).trim(), BODY),
    from,
    link,
  }))
  const settings = `${baseUrl}/app#/notifications`
  const text = [
    ...shown.map(({ title, body, from, link }) =>
      [unlink(title), unlink(body), from && `— ${unlink(from)}`, link && `${link.text}: ${link.url}`]
        .filter(Boolean)
        .join('\n\n'),
    ),
    ...(more ? [more] : []),
    `-- \n${[
      brandSignature(brand),
      ...(unsubscribe ? [`${t('Choose your e-mails')}: ${settings}`, `${t('Unsubscribe')}: ${unsubscribe}`] : []),
    ].join('\n')}`,
  ].join('\n\n')
  const soft = 'color:#57606a;font-size:14px'
  const html = [
    `<!doctype html><html lang="${languageOf(locale)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(subject)}</title></head>`,
    '<body style="margin:0;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif">',
    `<div style="max-width:560px;margin:0 auto"><p style="margin:0 0 24px;font-weight:600">${escapeHtml(brand.name)}</p>`,
    ...shown.map(
      ({ title, body, from, link }) =>
        `<div style="margin:0 0 32px"><h1 dir="auto" style="margin:0 0 8px;font-size:18px;line-height:1.3">${escapeHtml(unlink(title))}</h1>` +
        (body ? `<p dir="auto" style="margin:0 0 8px;white-space:pre-line">${escapeHtml(unlink(body))}</p>` : '') +
        (from ? `<p dir="auto" style="margin:0 0 12px;${soft}">${escapeHtml(unlink(from))}</p>` : '') +
        (link
          ? `<p style="margin:0"><a href="${escapeHtml(link.url)}" style="display:inline-block;padding:8px 16px;border:1px solid;border-radius:8px;text-decoration:none;font-weight:600">${escapeHtml(link.text)}</a></p>`
          : '') +
        '</div>',
    ),
    ...(more ? [`<p>${escapeHtml(more)}</p>`] : []),
    `<p style="border-top:1px solid #d0d7de;padding-top:12px;${soft}">${escapeHtml(brandSignature(brand)).replaceAll('\n', '<br>')}`,
    ...(unsubscribe
      ? [
          `<br><a href="${escapeHtml(settings)}">${escapeHtml(t('Choose your e-mails'))}</a> · <a href="${escapeHtml(unsubscribe)}">${escapeHtml(t('Unsubscribe'))}</a>`,
        ]
      : []),
    '</p></div></body></html>',
  ].join('')
  return { to, subject: cut(cleanName(subject), TITLE), text, html, ...(unsubscribe && { unsubscribe }) }
}
