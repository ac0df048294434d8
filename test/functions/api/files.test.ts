import { beforeEach, describe, expect, it } from 'vitest'
import { iso } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { filesOf } from './files-support.ts'

const platform = usingPlatform()
// Refills every rate limit.
beforeEach(() => platform.clock.advance(60_000))

const MIB = 1_048_576

describe('POST /api/v1/files with content', () => {
  it('stores text and returns the file as ready', async () => {
    const app = await filesOf(platform)
    const { status, body, headers } = await app.create({ name: ' Zürich 📄.txt ', content: 'grüezi' })
    expect([status, headers['cache-control']]).toEqual([201, 'no-store'])
    expect(body).toEqual({
      kind: 'file',
      id: expect.stringMatching(/^fil_/),
      name: 'Zürich 📄.txt',
      folder_id: null,
      content_type: 'text/plain',
      size: 7,
      status: 'ready',
      created_by: { type: 'agent', id: app.installation.id, name: app.installation.app_name },
      created_at: iso(platform.clock.now()),
    })
    expect(Buffer.from(platform.objects.get(app.objectOf(body.id)) ?? []).toString()).toBe('grüezi')
    expect(await app.used()).toEqual([1, 7])
  })

  it('stores bytes from base64, and an empty file', async () => {
    const app = await filesOf(platform)
    const bytes = Buffer.from([0, 255, 128, 1])
    const { id, size } = await app.file({ content_base64: bytes.toString('base64') })
    expect([size, Buffer.from(platform.objects.get(app.objectOf(id)) ?? [])]).toEqual([4, bytes])
    expect((await app.file({ content: '' })).size).toBe(0)
  })

  it.each([
    ['accepts 1 MiB of text', { content: 'x'.repeat(MIB) }, 201],
    ['refuses one byte more', { content: 'x'.repeat(MIB + 1) }, 413],
    ['refuses 1 MiB of two-byte characters', { content: 'ü'.repeat(MIB) }, 413],
    ['accepts 4 MiB from base64', { content_base64: Buffer.alloc(4 * MIB).toString('base64') }, 201],
    ['refuses one byte more from base64', { content_base64: Buffer.alloc(4 * MIB + 1).toString('base64') }, 413],
    ['accepts an upload of 100 MiB', { size: 100 * MIB }, 201],
    ['refuses an upload of one byte more', { size: 100 * MIB + 1 }, 413],
  ])('%s', async (_, fields, expected) => {
    const app = await filesOf(platform)
    const { status, body } = await app.create(fields)
    expect(status).toBe(expected)
    if (expected === 413) {
      expect(body.error).toMatchObject({ code: 'payload_too_large', message: expect.stringMatching(/\d+ bytes/) })
      expect(await app.used()).toEqual([0, 0])
    }
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['no content and no size', {}, 'content'],
    ['two contents', { content: 'a', content_base64: 'YQ==' }, 'content'],
    ['content and a size', { content: 'a', size: 1 }, 'content'],
    ['invalid base64', { content_base64: 'a_-b' }, 'content_base64'],
    ['base64 without padding', { content_base64: 'YQ' }, 'content_base64'],
    ['base64 with bits left over', { content_base64: 'YR==' }, 'content_base64'],
    ['base64 in lines', { content_base64: 'YWJj\nYWJj' }, 'content_base64'],
    ['a non-integer size', { size: 1.5 }, 'size'],
    ['a negative size', { size: -1 }, 'size'],
    ['no name', { content: 'a', name: '' }, 'name'],
    ['a blank name', { content: 'a', name: '  ' }, 'name'],
    ['a name of 256 characters', { content: 'a', name: 'x'.repeat(256) }, 'name'],
    ['a path', { content: 'a', name: '../etc/passwd' }, 'name'],
    ['a Windows path', { content: 'a', name: 'C:\\x' }, 'name'],
    ['the folder itself', { content: 'a', name: '..' }, 'name'],
    ['a control character', { content: 'a', name: 'a\u0000b' }, 'name'],
    ['a line break', { content: 'a', name: 'a\r\nSet-Cookie: x' }, 'name'],
    ['a name that displays as another', { content: 'a', name: 'a\u202egpj.exe' }, 'name'],
    ['a bidirectional isolate', { content: 'a', name: 'a\u2066b' }, 'name'],
    ['half of a surrogate pair', { content: 'a', name: 'a\ud83db' }, 'body'],
    ['an invalid type', { content: 'a', content_type: 'text' }, 'content_type'],
    ['a type with a line break', { content: 'a', content_type: 'text/plain\r\nx: y' }, 'content_type'],
    ['a type with quotes', { content: 'a', content_type: 'text/plain; a="b"' }, 'content_type'],
  ])('refuses %s', async (_, fields, field) => {
    const app = await filesOf(platform)
    const { status, body } = await app.create(fields)
    expect([status, body.error.code, Object.keys(body.error.details.fields)]).toEqual([
      422,
      'validation_error',
      [field],
    ])
  })

  it.each(['📄'.repeat(255), '.profile', '...', 'مرحبا.txt', 'a \'b\' "c".txt'])(
    'accepts the name %s',
    async (name) => {
      const app = await filesOf(platform)
      const { id } = await app.file({ content: 'a', name })
      expect((await app.call('GET', `/${id}`)).body.name).toBe(name)
    },
  )

  it.each(['application/vnd.ms-excel', 'image/svg+xml', 'Text/Plain; charset=utf-8'])(
    'accepts the type %s',
    async (type) => {
      expect((await (await filesOf(platform)).file({ content: 'a', content_type: type })).content_type).toBe(type)
    },
  )

  it('puts a file into a folder of the workspace', async () => {
    const app = await filesOf(platform)
    const folder = await app.folder()
    expect((await app.file({ content: 'a', folder_id: folder.id })).folder_id).toBe(folder.id)
  })

  it.each([{ content: 'a' }, { size: 1 }])(
    'doesn’t find a folder that is unknown, malformed or another workspace’s: %j',
    async (fields) => {
      const [app, other] = [await filesOf(platform), await filesOf(platform)]
      const foreign = await other.folder()
      for (const folder_id of [foreign.id, newId('folder', 1), newId('file', 1), 'root', '']) {
        const { status, body } = await app.create({ ...fields, folder_id })
        expect([status, body.error?.code]).toEqual([404, 'not_found'])
      }
      expect(await app.used()).toEqual([0, 0])
      expect([...platform.objects.keys()].filter((key) => key.includes(app.workspaceId))).toEqual([])
    },
  )
})

describe('a file with an upload', () => {
  it('is pending until a read finds its object', async () => {
    const app = await filesOf(platform)
    const { upload, ...file } = await app.file({ size: 5 })
    expect(file).toMatchObject({ status: 'pending', size: 5 })
    expect(upload).toEqual({
      method: 'PUT',
      url: expect.stringContaining(app.objectOf(file.id)),
      headers: { 'content-type': 'text/plain', 'if-none-match': '*' },
      expires_at: iso(platform.clock.now() + 15 * 60_000),
    })
    expect((await app.call('GET', `/${file.id}`)).body).toEqual({ ...file, download_url: null })

    platform.objects.set(app.objectOf(file.id), Buffer.from('hello'))
    const ready = { ...file, status: 'ready' }
    expect((await app.call('GET')).body.items).toEqual([file])
    expect((await app.call('GET', `/${file.id}`)).body).toEqual({ ...ready, download_url: expect.any(String) })
    expect((await app.call('GET')).body.items).toEqual([ready])
    expect(await app.due()).toEqual([])
  })

  /** Runs an action between a read's look at the bucket and its write. */
  const duringLook = async <T>(meanwhile: () => Promise<unknown>, read: () => Promise<T>): Promise<T> => {
    const { objects } = platform.deps
    const { head } = objects
    objects.head = async (key) => {
      objects.head = head
      const size = await head(key)
      await meanwhile()
      return size
    }
    return read()
  }

  it('is ready for both of two concurrent reads', async () => {
    const app = await filesOf(platform)
    const { id } = await app.file({ size: 5 })
    platform.objects.set(app.objectOf(id), Buffer.from('hello'))
    const read = () => app.call('GET', `/${id}`)
    const { status, body } = await duringLook(read, read)
    expect([status, body.status, body.download_url]).toEqual([200, 'ready', expect.any(String)])
  })

  it('is not found by a read that races its deletion', async () => {
    const app = await filesOf(platform)
    const { id } = await app.file({ size: 5 })
    platform.objects.set(app.objectOf(id), Buffer.from('hello'))
    const answer = await duringLook(
      () => app.call('DELETE', `/${id}`),
      () => app.call('GET', `/${id}`),
    )
    expect(answer.status).toBe(404)
    expect((await app.call('GET')).body.items).toEqual([])
  })

  it('stays pending when its object has another size', async () => {
    const app = await filesOf(platform)
    const { id } = await app.file({ size: 5 })
    platform.objects.set(app.objectOf(id), Buffer.from('hello!'))
    expect((await app.call('GET', `/${id}`)).body).toMatchObject({ status: 'pending', download_url: null })
  })

  it('is deleted after 24 hours if it was never uploaded, and kept if it was but never read', async () => {
    const app = await filesOf(platform)
    const [never, came] = [await app.file({ size: 3 }), await app.file({ size: 5 })]
    platform.objects.set(app.objectOf(came.id), Buffer.from('hello'))
    platform.clock.advance(LIMITS.pendingFileLife - 1)
    await platform.sweep()
    expect((await app.call('GET')).body.items).toHaveLength(2)
    expect(await app.used()).toEqual([2, 8])

    platform.clock.advance(1)
    await platform.sweep()
    expect((await app.call('GET')).body.items).toMatchObject([{ id: came.id, status: 'ready' }])
    expect((await app.call('GET', `/${never.id}`)).status).toBe(404)
    expect(await app.used()).toEqual([1, 5])
    await platform.sweep()
    expect(await app.used()).toEqual([1, 5])
    expect(await app.due()).toEqual([])
  })
})

describe('GET /api/v1/files', () => {
  it('lists all files, the files of a folder, or those without one, newest first', async () => {
    const app = await filesOf(platform)
    const [one, two] = [await app.folder('One'), await app.folder('Two')]
    const ids: string[] = []
    for (const folder_id of [one.id, undefined, one.id, two.id]) {
      platform.clock.advance(1_000)
      ids.unshift((await app.file({ content: 'a', folder_id })).id)
    }
    const listed = async (query: string) =>
      (await app.call('GET', query)).body.items.map(({ id }: { id: string }) => ids.indexOf(id))
    expect(await listed('')).toEqual([0, 1, 2, 3])
    expect(await listed(`?folder_id=${one.id}`)).toEqual([1, 3])
    expect(await listed(`?folder_id=${two.id}`)).toEqual([0])
    expect(await listed('?folder_id=root')).toEqual([2])
  })

  it('lists the folders with kind=folder', async () => {
    const app = await filesOf(platform)
    const one = await app.folder('One')
    platform.clock.advance(1_000)
    const two = await app.folder('Two')
    await app.file()
    const { body } = await app.call('GET', '?kind=folder')
    expect(body).toEqual({
      items: [two, one].map(({ id, name, created_at }) => ({ kind: 'folder', id, name, created_at: iso(created_at) })),
      next_cursor: null,
      has_more: false,
    })
    expect((await app.call('GET', `?kind=folder&folder_id=${one.id}`)).status).toBe(422)
  })

  it('continues after the previous page, in the same list only', async () => {
    const app = await filesOf(platform)
    const folder = await app.folder()
    for (let i = 0; i < 3; i++) await app.file({ content: 'a', folder_id: folder.id })
    const first = (await app.call('GET', `?folder_id=${folder.id}&limit=2`)).body
    expect([first.items.length, first.has_more]).toEqual([2, true])
    const cursor = encodeURIComponent(first.next_cursor)
    const second = (await app.call('GET', `?folder_id=${folder.id}&limit=2&cursor=${cursor}`)).body
    expect([second.items.length, second.has_more, second.next_cursor]).toEqual([1, false, null])
    for (const query of ['', '&folder_id=root', '&kind=folder']) {
      expect((await app.call('GET', `?limit=2${query}&cursor=${cursor}`)).status).toBe(400)
    }
  })

  it('doesn’t find another workspace’s folder', async () => {
    const [app, other] = [await filesOf(platform), await filesOf(platform)]
    const foreign = await other.folder()
    for (const id of [foreign.id, newId('folder', 1), 'nonsense', '']) {
      const { status, body } = await app.call('GET', `?folder_id=${id}`)
      expect([status, body.error?.code]).toEqual([404, 'not_found'])
    }
  })
})

describe('another installation', () => {
  it('of the same workspace sees the workspace’s files', async () => {
    const app = await filesOf(platform)
    const { id } = await app.file()
    const other = await filesOf(platform, { workspaceId: app.workspaceId, scopes: ['files:read'] })
    expect((await other.call('GET', `/${id}`)).body).toMatchObject({ id, created_by: { id: app.installation.id } })
    expect((await other.call('DELETE', `/${id}`)).body.error.code).toBe('insufficient_scope')
  })
})

describe('DELETE /api/v1/files/{id}', () => {
  it('deletes record and object, and releases the quota', async () => {
    const app = await filesOf(platform)
    const { id } = await app.file()
    expect((await app.call('DELETE', `/${id}`)).status).toBe(204)
    expect((await app.call('GET', `/${id}`)).status).toBe(404)
    expect((await app.call('GET')).body.items).toEqual([])
    expect(platform.objects.has(app.objectOf(id))).toBe(false)
    expect(await app.used()).toEqual([0, 0])
    expect((await app.call('DELETE', `/${id}`)).status).toBe(404)
    expect(await app.due()).toEqual([])
  })

  it('deletes once under concurrent requests', async () => {
    const app = await filesOf(platform)
    const [{ id }] = [await app.file(), await app.file({ content: 'stays' })]
    const answers = await Promise.all([1, 2, 3, 4].map(() => app.call('DELETE', `/${id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404])
    expect(await app.used()).toEqual([1, 5])
  })

  it('takes effect at once for an uploaded file, and reserves its key until no upload can arrive', async () => {
    const app = await filesOf(platform)
    const { id } = await app.file({ size: 5 })
    const object = app.objectOf(id)
    platform.objects.set(object, Buffer.from('hello'))
    platform.clock.advance(60_000)
    expect((await app.call('DELETE', `/${id}`)).status).toBe(204)
    expect([(await app.call('GET', `/${id}`)).status, platform.objects.has(object)]).toEqual([404, false])
    // The upload URL still works, and a client uses it.
    platform.objects.set(object, Buffer.from('again'))
    await platform.sweep()
    expect(await app.used()).toEqual([1, 5])
    platform.clock.advance(LIMITS.uploadEnd - 60_000)
    await platform.sweep()
    await platform.sweep()
    expect([platform.objects.has(object), await app.used()]).toEqual([false, [0, 0]])
    expect(await app.due()).toEqual([])
  })

  it('is completed by the sweeper when the bucket fails', async () => {
    const app = await filesOf(platform)
    const { id } = await app.file()
    const { objects } = platform.deps
    const remove = objects.delete
    objects.delete = async () => {
      throw new Error('the bucket is down')
    }
    expect((await app.call('DELETE', `/${id}`)).status).toBe(204)
    objects.delete = remove
    expect([(await app.call('GET', `/${id}`)).status, await app.used()]).toEqual([404, [1, 5]])
    platform.clock.advance(60_000)
    await Promise.all([platform.sweep(), platform.sweep()])
    expect([platform.objects.has(app.objectOf(id)), await app.used()]).toEqual([false, [0, 0]])
  })
})

describe('the workspace’s quota', () => {
  it.each([
    ['bytes', 'file-bytes', LIMITS.fileBytesPerWorkspace, 5],
    ['files', 'files', LIMITS.filesPerWorkspace, 1],
  ] as const)('of %s is exact, even under concurrent requests', async (_, counter, limit, each) => {
    const app = await filesOf(platform)
    await app.use(counter, limit - 2 * each)
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => app.create({ content: 'hello' })),
      ...[1, 2, 3].map(() => app.create({ size: 5 })),
    ])
    const made = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 403)
    expect([made.length, refused.length]).toEqual([2, 4])
    for (const { body } of refused) {
      expect(body.error).toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining(String(limit)),
        details: { limit, used: limit },
      })
    }
    expect((await app.used())[counter === 'files' ? 0 : 1]).toBe(limit)
    // The refused requests left nothing behind.
    expect((await app.call('GET')).body.items).toHaveLength(2)
    platform.clock.advance(60_000)
    const inline = made.find(({ body }) => body.status === 'ready') ?? made[0]
    await app.call('DELETE', `/${inline?.body.id}`)
    platform.clock.advance(LIMITS.uploadEnd)
    await platform.sweep()
    expect((await app.create({ content: 'hello' })).status).toBe(201)
  })
})

describe('the tool save_file', () => {
  const invoke = ({ token }: { token: string }, args: unknown, headers = {}) =>
    platform.call('POST', '/api/v1/tools/save_file/invoke', { token, body: { arguments: args }, headers })

  it('saves text and bytes as files', async () => {
    const app = await filesOf(platform)
    const folder = await app.folder()
    const { status, body } = await invoke(app, { name: 'a.txt', content: 'grüezi', folder_id: folder.id })
    expect([status, body]).toEqual([
      200,
      {
        status: 'ok',
        result: {
          file_id: expect.stringMatching(/^fil_/),
          name: 'a.txt',
          size: 7,
          content_type: 'text/plain; charset=utf-8',
          folder_id: folder.id,
        },
      },
    ])
    const { file_id } = body.result
    expect((await app.call('GET', `/${file_id}`)).body).toMatchObject({ status: 'ready', folder_id: folder.id })
    const bytes = (await invoke(app, { name: 'b', content_base64: Buffer.alloc(4 * MIB).toString('base64') })).body
    expect(bytes.result).toMatchObject({ size: 4 * MIB, content_type: 'application/octet-stream', folder_id: null })
    expect(await app.used()).toEqual([2, 4 * MIB + 7])
    expect(await app.due()).toEqual([])
  })

  it('applies the limits of the endpoint', async () => {
    const app = await filesOf(platform)
    const foreign = await (await filesOf(platform)).folder()
    const refused = async (args: unknown) => {
      const { status, body } = await invoke(app, args)
      return [status, body.error.code, Object.keys(body.error.details.fields ?? {}).join()]
    }
    const name = 'a.txt'
    expect(await refused({ name, content: 'x'.repeat(MIB + 1) })).toEqual([413, 'payload_too_large', ''])
    expect(await refused({ name })).toEqual([422, 'validation_error', 'arguments.content'])
    expect(await refused({ name, content: '', content_base64: '' })).toEqual([
      422,
      'validation_error',
      'arguments.content',
    ])
    expect(await refused({ name: 'a/b', content: 'x' })).toEqual([422, 'validation_error', 'arguments.name'])
    expect(await refused({ name, content: 'x', folder_id: foreign.id })).toEqual([404, 'not_found', ''])
    await app.use('files', LIMITS.filesPerWorkspace)
    expect(await refused({ name, content: 'x' })).toEqual([403, 'forbidden', ''])
    expect((await app.call('GET')).body.items).toEqual([])
  })

  it('saves one file for two calls with the same key', async () => {
    const app = await filesOf(platform)
    const key = { 'idempotency-key': 'once' }
    const [first, second] = [
      await invoke(app, { name: 'a.txt', content: 'x' }, key),
      await invoke(app, { name: 'a.txt', content: 'x' }, key),
    ]
    expect(second.text).toBe(first.text)
    expect(await app.used()).toEqual([1, 1])
  })
})
