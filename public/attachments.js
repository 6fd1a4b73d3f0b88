// Files of texts. What is chosen, dropped on a form or pasted there is uploaded at once, one file after the other, and the
// form names it when it is sent. Optional: without this script, a form can keep the files that it has, or leave them out.

// A connection over which nothing more gets is lost.
const stalledMs = 60_000

let last = Promise.resolve()

for (const field of document.querySelectorAll('fieldset[data-attach]')) takeFiles(field)

function takeFiles(field) {
  const { form } = field
  const filesMax = Number(field.dataset.filesMax)
  const bytesMax = Number(field.dataset.bytesMax)
  const list = field.querySelector('ul')
  const note = field.querySelector('[role="status"]')
  const choose = field.querySelector('button')
  // Says what happens to files, which the list shows.
  const announcement = make('p', { class: 'visually-hidden', role: 'status' })
  field.append(announcement)
  // With `state`: waiting, uploading, attached or failed.
  const rows = []
  // The form was sent while files were uploaded, by this button.
  let sending

  for (const item of list.querySelectorAll('li')) keep(item)

  let input
  choose.addEventListener('click', () => {
    if (!input) {
      input = make('input', { type: 'file', multiple: '', 'aria-label': 'Files', tabindex: '-1' })
      input.hidden = true
      input.addEventListener('change', () => {
        add([...input.files])
        // So that the same file can be chosen again.
        input.value = ''
      })
      field.append(input)
    }
    input.click()
  })

  const hasFiles = ({ dataTransfer }) => [...dataTransfer.types].includes('Files')
  form.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    field.classList.add('dropping')
  })
  form.addEventListener('dragleave', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) field.classList.remove('dropping')
  })
  form.addEventListener('drop', (event) => {
    field.classList.remove('dropping')
    if (!hasFiles(event)) return
    event.preventDefault()
    add([...event.dataTransfer.files])
  })
  form.addEventListener('paste', (event) => {
    const files = [...event.clipboardData.files]
    // What is copied from documents and tables is text, and an image of it.
    if (files.length === 0 || event.clipboardData.getData('text/plain') !== '') return
    event.preventDefault()
    add(files)
  })

  // Before public/texts.js sends it.
  form.addEventListener(
    'submit',
    (event) => {
      const isBusy = rows.some(isUnderWay)
      if (!isBusy && !rows.some(hasFailed)) return
      event.preventDefault()
      sending = isBusy ? { submitter: event.submitter } : undefined
      say(isBusy ? 'This is sent when the files are uploaded.' : notUploaded)
    },
    { capture: true },
  )

  function say(text) {
    note.textContent = text
  }

  function add(files) {
    const room = filesMax - rows.length
    const taken = files.slice(0, Math.max(room, 0))
    say(taken.length < files.length ? `At most ${filesMax} files can be attached.` : '')
    for (const file of taken) {
      const row = addRow({ name: file.name, bytes: file.size, file })
      if (file.size > bytesMax) fail(row, `The file is larger than ${bytesMax / 1024 / 1024} MB.`, false)
      else upload(row)
    }
  }

  // A file that the form has already.
  function keep(item) {
    const { value } = item.querySelector('input')
    const row = addRow({ name: item.querySelector('bdi').textContent, size: item.querySelector('.hint') })
    item.remove()
    attach(row, value)
  }

  function addRow({ name, bytes, size, file }) {
    const shown = make('bdi', { class: 'truncate', title: name }, name)
    const item = make('li')
    const row = { name, file, item, controls: make('span', { class: 'choices' }) }
    item.append(shown, size ?? make('span', { class: 'hint' }, formatBytes(bytes)), row.controls)
    rows.push(row)
    list.append(item)
    return row
  }

  // Shows what there is to see and to do of a file.
  function show(row, ...parts) {
    row.controls.replaceChildren(
      ...parts,
      addButton('Remove', row, () => remove(row)),
    )
  }

  function addButton(label, { name }, run) {
    const button = make('button', { type: 'button', class: 'small quiet' }, label)
    button.append(make('span', { class: 'visually-hidden' }, ` ${name}`))
    button.addEventListener('click', run)
    return button
  }

  function attach(row, id) {
    row.state = 'attached'
    row.id = id
    show(row, make('input', { type: 'hidden', name: 'attachmentIds', value: id }))
  }

  function fail(row, message, mayRetry) {
    row.state = 'failed'
    const again = () => {
      upload(row)
      row.controls.querySelector('button').focus()
      if (!rows.some(hasFailed)) say('')
    }
    const text = make('span', { class: 'error' }, message)
    show(row, text, ...(mayRetry ? [addButton('Try again', row, again)] : []))
    announce(`${row.name} was not uploaded. ${message}`)
  }

  function upload(row) {
    row.state = 'waiting'
    row.progress = make('progress', { max: 1, value: 0, 'aria-label': `Uploading ${row.name}` })
    show(row, row.progress)
    last = last.then(() => row.state === 'waiting' && send(row))
  }

  function remove(row) {
    const place = rows.indexOf(row)
    rows.splice(place, 1)
    row.item.remove()
    // Those of before stay until the form is sent.
    if (row.file && row.state === 'attached') discard(row.id)
    row.state = 'removed'
    row.request?.abort()
    announce(`${row.name} was removed.`)
    say('')
    const next = rows[place] ?? rows.at(-1)
    ;(next?.controls.querySelector('button:last-child') ?? choose).focus()
    settle()
  }

  function discard(id) {
    const body = new URLSearchParams({ _csrf: form.elements._csrf.value })
    // If that fails, the service deletes it after a day.
    fetch(`${field.dataset.attach}/${id}/delete`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body,
    }).catch(() => undefined)
  }

  // Resolves when the file is uploaded or not.
  function send(row) {
    row.state = 'uploading'
    announce(`Uploading ${row.name}.`)
    const body = new FormData()
    body.append('_csrf', form.elements._csrf.value)
    body.append('file', row.file, row.name)
    const request = new XMLHttpRequest()
    row.request = request
    let timer
    const expectMore = () => {
      clearTimeout(timer)
      timer = setTimeout(() => request.abort(), stalledMs)
    }
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      expectMore()
      row.progress.value = total > 0 ? loaded / total : 0
    })
    return new Promise((resolve) => {
      request.addEventListener('loadend', () => {
        clearTimeout(timer)
        row.request = undefined
        if (row.state === 'uploading') finish(row, request)
        // Removed while the answer was under way.
        else if (request.status === 200) discard(request.response.attachment.id)
        resolve()
      })
      request.open('POST', field.dataset.attach)
      request.setRequestHeader('accept', 'application/json')
      request.responseType = 'json'
      request.send(body)
      expectMore()
    })
  }

  function finish(row, { status, response }) {
    if (status === 200 && response) {
      attach(row, response.attachment.id)
      announce(`${row.name} is attached.`)
    } else if (status === 0)
      fail(row, navigator.onLine ? 'The connection was lost.' : 'You are offline.', true)
    else fail(row, response?.message ?? 'The service does not answer.', ![400, 413].includes(status))
    settle()
  }

  function announce(text) {
    announcement.textContent = text
  }

  // Sends the form that waited for its files.
  function settle() {
    if (!sending || rows.some(isUnderWay)) return
    const { submitter } = sending
    sending = undefined
    say(rows.some(hasFailed) ? notUploaded : '')
    if (!rows.some(hasFailed)) form.requestSubmit(submitter)
  }
}

const notUploaded = 'Not sent: a file was not uploaded. Try again, or remove it.'

function isUnderWay({ state }) {
  return state === 'waiting' || state === 'uploading'
}

function hasFailed({ state }) {
  return state === 'failed'
}

// As src/website/seeds/attachments.views.ts says it.
function formatBytes(bytes) {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  return bytes < 999_500 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

function make(name, attributes = {}, text = '') {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}
