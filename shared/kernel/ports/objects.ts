/** URL that lets anyone who has it put one object, once. */
export interface PresignedPut {
  url: string
  /** Signed headers. Send them unchanged, with a `content-length` of exactly the signed size. */
  headers: Record<string, string>
}

/** Bucket of objects. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array, contentType: string): Promise<void>
  /** Stores an object unless one exists under the key. @returns false if one does */
  create(key: string, bytes: Uint8Array, contentType: string): Promise<boolean>
  /** Returns the object's bytes, or undefined if it doesn't exist. */
  get(key: string): Promise<Uint8Array | undefined>
  /** Returns the object's size in bytes, or undefined if it doesn't exist. */
  head(key: string): Promise<number | undefined>
  delete(key: string): Promise<void>
  /**
   * Signs an upload of exactly `size` bytes of that type. The upload is refused while an object exists under the key, so
   * it never replaces one. Once that object is deleted, the URL works again until it expires.
   * @param expiresIn seconds within which the upload must start, or less if the function's credentials expire sooner
   */
  presignPut(key: string, options: { size: number; contentType: string; expiresIn: number }): Promise<PresignedPut>
  /**
   * Signs a download as an attachment of that name and type, regardless of the stored type.
   * @param expiresIn seconds within which the download must start
   * @param inline lets a browser show the content instead of saving it
   */
  presignGet(
    key: string,
    options: { expiresIn: number; filename: string; contentType: string; inline?: boolean },
  ): Promise<string>
}
