import { describe, expect, it } from 'vitest'
import { parseCsv } from '#web/console/client/ui/csv.ts'
import { decodeText, imageType, previewKind, readBytes } from '#web/console/client/ui/preview-kind.ts'

const kind = (name: string, content_type: string, size = 10) => previewKind({ name, content_type, size })

describe('a file’s preview', () => {
  it('shows whatever a browser could run as text, by its type and its name', () => {
    for (const [name, type] of [
      ['a.html', 'text/html'],
      ['a.svg', 'image/svg+xml'],
      ['a', 'application/xhtml+xml'],
      ['a', 'application/javascript'],
      ['a.svg', 'application/octet-stream'],
      ['a.html', 'application/octet-stream'],
    ] as const) {
      expect(kind(name, type), `${name} ${type}`).toBe('text')
    }
  })

  it('shows a PDF only by its exact type, as the platform does', () => {
    expect([kind('a.pdf', 'application/pdf'), kind('a', 'APPLICATION/PDF')]).toEqual(['pdf', 'pdf'])
    expect([kind('a.pdf', 'application/octet-stream'), kind('a.pdf', 'application/pdf; a=b')]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('recognizes images, tables and Markdown, and leaves large images and other types to the download', () => {
    expect([kind('a', 'image/png'), kind('a', 'IMAGE/JPEG; a=b'), kind('a.csv', 'application/vnd.ms-excel')]).toEqual([
      'image',
      'image',
      'csv',
    ])
    expect([kind('a.md', 'application/octet-stream'), kind('a', 'text/markdown')]).toEqual(['markdown', 'markdown'])
    expect([kind('a', 'image/png', 16_000_000), kind('a.zip', 'application/zip'), kind('a', 'image/tiff')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('takes the type of an image from its content', () => {
    expect(imageType(Buffer.from('89504e470d0a1a0a00', 'hex'))).toBe('image/png')
    expect(imageType(Buffer.from('RIFF....WEBP'))).toBe('image/webp')
    expect([imageType(Buffer.from('<svg onload="alert(1)">')), imageType(new Uint8Array())]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('reads the beginning of a large file, up to a whole character', async () => {
    const { bytes, cut } = await readBytes(new Response('aä'.repeat(10)), 5)
    expect([bytes.byteLength, cut]).toEqual([5, true])
    expect(decodeText(bytes, cut)).toBe('aäa')
    const whole = await readBytes(new Response('aä'), 5)
    expect([decodeText(whole.bytes, whole.cut), whole.cut]).toEqual(['aä', false])
    expect(decodeText(new Uint8Array([0xff, 0xfe]), false)).toBeUndefined()
  })
})

describe('comma-separated values', () => {
  it('have quotes, line breaks within them, and commas, semicolons or tabs between values', () => {
    expect(parseCsv('a,b\r\n"1,5","x\ny"\r\n', 10)).toEqual([
      ['a', 'b'],
      ['1,5', 'x\ny'],
    ])
    expect(parseCsv('a;b\n"say ""hi""";', 10)).toEqual([
      ['a', 'b'],
      ['say "hi"', ''],
    ])
    expect(parseCsv('a\tb\n\n1\t2', 10)).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ])
  })

  it('are read up to a number of rows, and an open quote ends with the text', () => {
    expect(parseCsv('a\nb\nc\nd', 2)).toEqual([['a'], ['b']])
    expect(parseCsv('a,"b\nc', 10)).toEqual([['a', 'b\nc']])
    expect(parseCsv('', 10)).toEqual([])
  })
})
