import { error } from './error.ts'

/** What is wrong with uploaded files. */
export const errorsOfFiles = {
  fileMissing: error(
    'InvalidInput',
    'file_missing',
    'The form contains no file.',
    'The form of an upload contains no file.',
  ),
  fileNotAlone: error(
    'InvalidInput',
    'file_not_alone',
    'The form contains more than one file, or too many fields.',
    'The form of an upload contains more than one file, or too many other fields.',
  ),
  attachmentType: error(
    'InvalidInput',
    'attachment_type',
    'A file of this type cannot be attached. Images (PNG, JPEG, WebP, GIF), PDF, audio, video, CSV and text can.',
    'The content of the file is neither an image (PNG, JPEG, WebP, GIF), a PDF, audio or video, nor text in UTF-8, or it is empty. The file name does not matter.',
  ),
  attachmentLimit: error(
    'InvalidInput',
    'attachment_limit',
    'At most ten files can be attached.',
    'A seed, a piece of evidence or a comment would have more than ten files.',
  ),
  attachmentNotFound: error(
    'NotFound',
    'attachment_not_found',
    'A file to attach does not exist, or is attached already.',
    'An id in `attachmentIds` is that of no file that the caller has uploaded to the workspace and that nothing uses yet, nor of a file that this seed, evidence or comment has already.',
  ),
  attachmentTooLarge: error(
    'PayloadTooLarge',
    'attachment_too_large',
    'The file is larger than 25 MiB.',
    'The uploaded file is larger than 25 MiB, or an image would be when it is made anew.',
  ),
  storageQuota: error(
    'Conflict',
    'storage_quota',
    'The workspace has no room for this file. Delete files that are not needed any more.',
    'The files of the workspace would be larger than `STORAGE_QUOTA_MEGABYTES` together.',
  ),
  imageInvalid: error(
    'InvalidInput',
    'image_invalid',
    'The file is not a PNG, JPEG, WebP or GIF image, or is damaged.',
    'The content of the uploaded file is not a PNG, JPEG, WebP or GIF image. The file name does not matter.',
  ),
  imageTooLarge: error(
    'InvalidInput',
    'image_too_large',
    'The image has more than 25 megapixels.',
    'The uploaded image has more than 25 megapixels.',
  ),
  imageTooSlow: error(
    'InvalidInput',
    'image_too_slow',
    'The image takes too long to decode.',
    'Decoding the uploaded image took longer than 10 seconds.',
  ),
  tooManyUploads: error(
    'TooManyRequests',
    'too_many_uploads',
    'Too many uploads. Try again later.',
    'The caller has uploaded more pictures and tables than `UPLOAD_LIMIT_PER_HOUR`, or more files than `ATTACHMENT_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  uploadsBusy: error(
    'ServiceUnavailable',
    'uploads_busy',
    'Too many uploads are waiting. Try again later.',
    'Too many images are waiting to be decoded. Retry after `Retry-After` seconds.',
  ),
}
