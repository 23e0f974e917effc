"use strict";
(function () {
  var root = document.documentElement;
  var themes = ["auto", "light", "dark"];
  var theme = "auto";
  try { theme = localStorage.getItem("tamiz-theme") || "auto"; } catch (error) { theme = "auto"; }
  if (themes.indexOf(theme) < 0) theme = "auto";
  function dress() {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
  }
  dress();

  function make(name, css, text) {
    var element = document.createElement(name);
    if (css) element.className = css;
    if (text !== undefined) element.textContent = text;
    return element;
  }
  function each(selector, act, inside) {
    Array.prototype.forEach.call((inside || document).querySelectorAll(selector), act);
  }

  document.addEventListener("DOMContentLoaded", function () {
    startTheme();
    each(".chart[data-stops]", startChart);
    each("figure", startLegend);
    each("figure", startSave);
    each(".features", startNames);
    startRanking();
    startCommand();
    startPrint();
  });

  function startTheme() {
    var button = document.getElementById("theme");
    var texts = button.dataset.texts.split("|");
    function show() { button.textContent = texts[themes.indexOf(theme)]; }
    button.addEventListener("click", function () {
      theme = themes[(themes.indexOf(theme) + 1) % 3];
      try { localStorage.setItem("tamiz-theme", theme); } catch (error) { /* not kept, then */ }
      dress();
      show();
    });
    show();
  }

  // ------------------------------------------------------------------------------- read-outs
  // A stop is [x, y, width, height, heading, rows]; a row is [style, name, value, height or null].

  function startChart(chart) {
    var stops = JSON.parse(chart.dataset.stops);
    var svg = chart.querySelector("svg");
    var box = svg.viewBox.baseVal;
    var along = stops.every(function (s) { return s[1] === stops[0][1]; });
    var hit = make("div", "hit");
    hit.tabIndex = 0;
    hit.setAttribute("role", "group");
    hit.setAttribute("aria-label",
      svg.querySelector("title").textContent + ". " + document.body.dataset.keys);
    chart.appendChild(hit);
    var spoken = make("div", "quietly");
    spoken.setAttribute("role", "status");
    chart.appendChild(spoken);
    var tip = null, marks = [], now = -1;

    function hide() {
      if (tip) tip.remove();
      marks.forEach(function (m) { m.remove(); });
      tip = null;
      marks = [];
    }
    function scale() { return svg.getBoundingClientRect().width / box.width; }

    function place(x, y, w, h) {
      var cross = make("div", "cross");
      cross.style.left = x + "px";
      cross.style.top = y + "px";
      cross.style.width = w + "px";
      cross.style.height = h + "px";
      chart.appendChild(cross);
      marks.push(cross);
    }

    function show(k, speak) {
      if (k < 0) return;
      if (k === now && tip) return;
      hide();
      now = k;
      var s = stops[k], f = scale();
      tip = make("div", "tip");
      tip.appendChild(make("p", "", s[4]));
      s[5].forEach(function (row) {
        var line = make("div");
        if (row[0]) line.appendChild(make("span", "dot " + row[0]));
        if (row[1]) line.appendChild(make("span", "who", row[1]));
        line.appendChild(make("span", "", row[2]));
        tip.appendChild(line);
      });
      if (s[2] && s[3]) place((s[0] - s[2] / 2) * f, (s[1] - s[3] / 2) * f, s[2] * f, s[3] * f);
      else if (s[3]) place(0, (s[1] - s[3] / 2) * f, box.width * f, s[3] * f);
      else {
        s[5].forEach(function (row) {
          if (row[3] !== null) place(s[0] * f - 5, row[3] * f - 5, 10, 10);
        });
      }
      chart.appendChild(tip);
      var width = chart.clientWidth, height = svg.getBoundingClientRect().height;
      var x = s[0] * f, y = s[1] * f;
      var left = x + 14;
      if (left + tip.offsetWidth > width) left = x - 14 - tip.offsetWidth;
      if (left < 0) left = Math.max(0, Math.min(width - tip.offsetWidth, x - tip.offsetWidth / 2));
      var top = s[3] ? y + s[3] * f / 2 + 6 : y - tip.offsetHeight / 2;
      if (s[3] && top + tip.offsetHeight > height + 30) top = y - s[3] * f / 2 - 6 - tip.offsetHeight;
      if (chart.classList.contains("narrow")) { // below, so that it does not cover a small chart
        left = 0;
        top = height + 4;
      }
      tip.style.left = left + "px";
      tip.style.top = top + "px";
      if (speak) {
        spoken.textContent = s[4] + ": " + s[5].map(function (row) {
          return (row[1] ? row[1] + " " : "") + row[2];
        }).join("; ");
      }
    }

    function nearest(event) {
      var frame = svg.getBoundingClientRect(), f = scale();
      var x = (event.clientX - frame.left) / f, y = (event.clientY - frame.top) / f;
      var best = -1, least = Infinity;
      stops.forEach(function (s, k) {
        var dx = Math.abs(s[0] - x), dy = along ? 0 : Math.abs(s[1] - y);
        if (!s[2] && s[3]) dx = 0;
        var d = dx * dx + dy * dy;
        if (d < least) { least = d; best = k; }
      });
      return best;
    }

    function step(dx, dy) {
      var from = stops[now], best = -1, least = Infinity;
      stops.forEach(function (s, k) {
        var ahead = (s[0] - from[0]) * dx + (s[1] - from[1]) * dy;
        var aside = Math.abs((s[0] - from[0]) * dy) + Math.abs((s[1] - from[1]) * dx);
        if (ahead > 0.5 && ahead + 4 * aside < least) { least = ahead + 4 * aside; best = k; }
      });
      return best;
    }

    hit.addEventListener("pointermove", function (event) { show(nearest(event)); });
    hit.addEventListener("pointerdown", function (event) { show(nearest(event)); });
    hit.addEventListener("pointerleave", function () {
      if (document.activeElement === hit) return;
      hide();
      now = -1;
    });
    hit.addEventListener("focus", function () {
      if (hit.matches(":focus-visible")) show(now < 0 ? 0 : now, true);
    });
    hit.addEventListener("blur", hide);
    hit.addEventListener("keydown", function (event) {
      var ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      var way = ways[event.key], to = -1;
      if (event.key === "Escape") { hide(); return; }
      if (event.key === "Home") to = 0;
      else if (event.key === "End") to = stops.length - 1;
      else if (way) {
        if (now < 0) to = 0;
        else {
          to = step(way[0], way[1]);
          // in a list, left and right go on too; in a row, up and down do not
          if (to < 0 && way[0]) to = now + way[0];
        }
      } else return;
      event.preventDefault();
      if (to >= 0 && to < stops.length) show(to, true);
    });
  }

  // --------------------------------------------------------------------------------- legends

  function startLegend(figure) {
    var pinned = null;
    var buttons = figure.querySelectorAll("button[data-series]");
    function light(number) {
      each(".series", function (series) {
        series.classList.toggle("hot", series.dataset.s === number);
      }, figure);
      figure.classList.toggle("has-hot", number !== null);
    }
    Array.prototype.forEach.call(buttons, function (button) {
      var number = button.dataset.series;
      button.addEventListener("pointerenter", function () { light(number); });
      button.addEventListener("pointerleave", function () { light(pinned); });
      button.addEventListener("click", function () {
        pinned = pinned === number ? null : number;
        Array.prototype.forEach.call(buttons, function (other) {
          other.setAttribute("aria-pressed", String(other.dataset.series === pinned));
        });
        light(pinned);
      });
    });
  }

  // --------------------------------------------------------------------------------- ranking

  var ranking = null;

  function startRanking() {
    var block = document.getElementById("ranking-data");
    if (!block) return;
    var data = JSON.parse(block.textContent);
    var table = document.getElementById("ranking-table");
    var body = table.tBodies[0];
    var heads = table.tHead.rows[0].cells;
    var status = document.getElementById("ranking-status");
    var back = document.getElementById("ranking-back");
    var next = document.getElementById("ranking-next");
    var search = document.getElementById("ranking-search");
    var only = document.getElementById("ranking-only");
    var size = document.getElementById("ranking-size");
    var columns = data.columns;
    var count = columns[0][1].length;
    var name = 1, chosen = 2;
    var folded = columns[name][1].map(fold);
    var order = [];
    for (var k = 0; k < count; k++) order.push(k);
    var shown = order.slice(), page = 0, sorted = 0, up = true;
    var collator = new Intl.Collator(root.lang, { numeric: true });

    function fold(text) {
      return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
    }
    function digits(text) {
      var sign = text.charAt(0) === "-" ? "\u2212" : "";
      var parts = text.replace("-", "").split(".");
      if (parts[0].length >= data.group) {
        parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, data.thousands);
      }
      return sign + parts.join(data.decimal);
    }
    function raised(number) {
      var marks = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
      return String(number).replace("-", "\u207b").replace(/\d/g, function (d) {
        return marks.charAt(Number(d));
      });
    }
    function number(value) {
      var size = Math.abs(value);
      if (value === Math.round(value) && size < 1e7) return digits(String(value));
      if (size < 1e-4 || size >= 1e7) {
        var parts = value.toExponential(3).split("e");
        var head = parts[0].replace(/\.?0+$/, "");
        return digits(head) + "\u00b710" + raised(Number(parts[1]));
      }
      var before = size >= 1 ? String(Math.floor(size)).length : 1 + Math.floor(Math.log10(size));
      return digits(value.toFixed(Math.max(0, Math.min(20, 4 - before))));
    }
    function text(kind, value) {
      if (value === null) return "\u2013";
      if (kind === "mark") return value ? data.texts.yes : data.texts.no;
      if (kind === "fraction") return digits((100 * value).toFixed(0)) + data.percent;
      return kind === "integer" ? digits(String(value)) : number(value);
    }

    function rows(from, to, places) {
      var part = document.createDocumentFragment();
      for (var r = from; r < to; r++) {
        var row = make("tr");
        if (columns[chosen][1][places[r]]) row.className = "on";
        columns.forEach(function (column) {
          var value = column[1][places[r]], cell;
          if (column[0] === "text") {
            cell = make("td");
            cell.appendChild(make("bdi", "", value));
          } else cell = make("td", "n", text(column[0], value));
          row.appendChild(cell);
        });
        part.appendChild(row);
      }
      body.replaceChildren(part);
    }
    function fill() {
      var each = Number(size.value), last = Math.max(0, Math.ceil(shown.length / each) - 1);
      page = Math.min(page, last);
      var from = page * each, to = Math.min(shown.length, from + each);
      rows(from, to, shown);
      status.textContent = shown.length
        ? data.texts.showing.replace("%1", digits(String(from + 1)))
          .replace("%2", digits(String(to))).replace("%3", digits(String(shown.length)))
        : data.texts.none;
      back.disabled = page === 0;
      next.disabled = page >= last;
    }
    function filter() {
      var wanted = fold(search.value.trim());
      shown = order.filter(function (k) {
        return (!only.checked || columns[chosen][1][k]) && folded[k].indexOf(wanted) >= 0;
      });
      page = 0;
      fill();
    }
    function sort(c) {
      // numbers that mean more the larger they are start with the largest
      var falling = columns[c][0] === "number" || columns[c][0] === "fraction" || c === chosen;
      up = sorted === c ? !up : !falling;
      sorted = c;
      var values = columns[c][1], kind = columns[c][0], way = up ? 1 : -1;
      order.sort(function (a, b) {
        var u = values[a], v = values[b];
        if (u === v) return a - b;
        if (u === null) return 1;
        if (v === null) return -1;
        return way * (kind === "text" ? collator.compare(u, v) : u - v) || a - b;
      });
      Array.prototype.forEach.call(heads, function (head, k) {
        head.setAttribute("aria-sort", k === c ? (up ? "ascending" : "descending") : "none");
      });
      filter();
    }
    function save() {
      var lines = [data.labels];
      for (var r = 0; r < count; r++) {
        lines.push(columns.map(function (column) { return column[1][r]; }));
      }
      saveTable(lines, data.file);
    }

    each("button[data-column]", function (button) {
      button.addEventListener("click", function () { sort(Number(button.dataset.column)); });
    }, table);
    search.addEventListener("input", filter);
    only.addEventListener("change", filter);
    size.addEventListener("change", fill);
    back.addEventListener("click", function () { page -= 1; fill(); });
    next.addEventListener("click", function () { page += 1; fill(); });
    document.getElementById("ranking-save").addEventListener("click", save);
    fill();
    ranking = {
      paper: function () {
        var first = [];
        for (var k = 0; k < Math.min(count, 15); k++) first.push(k);
        rows(0, first.length, first);
        status.textContent = data.texts.showing.replace("%1", "1")
          .replace("%2", digits(String(first.length))).replace("%3", digits(String(count)));
      },
      screen: fill
    };
  }

  // --------------------------------------------------------------------- copying and saving

  function saveFile(blob, name) {
    var link = make("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }
  function quoted(value) {
    var cell = value === null ? "" : String(value);
    // a spreadsheet would run such text as a formula
    if (/^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20][^]/.test(cell) && isNaN(Number(cell))) cell = "'" + cell;
    return /[",\n\r]/.test(cell) ? '"' + cell.replace(/"/g, '""') + '"' : cell;
  }
  function saveTable(lines, name) {
    var text = lines.map(function (line) { return line.map(quoted).join(","); }).join("\r\n");
    saveFile(new Blob(["\ufeff" + text + "\r\n"], { type: "text/csv" }), name);
  }

  function startCopy(button, text, element) {
    var before = button.textContent;
    button.addEventListener("click", function () {
      function done() {
        button.textContent = button.dataset.done;
        setTimeout(function () { button.textContent = before; }, 1600);
      }
      function select() { // where the clipboard is closed to pages: mark it, to be copied by hand
        var range = document.createRange();
        range.selectNodeContents(element);
        var marked = window.getSelection();
        marked.removeAllRanges();
        marked.addRange(range);
        try { if (document.execCommand("copy")) done(); } catch (error) { /* it is marked */ }
      }
      if (navigator.clipboard && navigator.clipboard.writeText) {
        navigator.clipboard.writeText(text).then(done, select);
      } else select();
    });
  }
  function startCommand() {
    var button = document.getElementById("copy"), code = document.getElementById("command");
    if (button) startCopy(button, code.textContent, code);
  }
  function startNames(part) {
    var names = JSON.parse(part.dataset.names);
    startCopy(part.querySelector(".copy-names"), names.join("\n"), part.querySelector(".names") || part);
    part.querySelector(".save-names").addEventListener("click", function () {
      saveTable([[part.dataset.head]].concat(names.map(function (name) { return [name]; })),
        part.dataset.file);
    });
  }

  // A figure as a file. Colours come from the style of the page, and so are written into it.

  var looks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray",
    "stroke-linecap", "stroke-linejoin", "opacity", "font-size", "font-weight", "font-family",
    "text-anchor", "paint-order"];

  function startSave(figure) {
    var row = make("div", "save screen");
    [["SVG", saveSvg], ["PNG", savePng]].forEach(function (kind) {
      var button = make("button", "", kind[0]);
      button.type = "button";
      button.setAttribute("aria-label", document.body.dataset.save + " " + kind[0]);
      button.addEventListener("click", function () {
        var svg = Array.prototype.find.call(figure.querySelectorAll(".chart svg"), function (one) {
          return one.getBoundingClientRect().width > 0;
        });
        if (svg) kind[1](svg, svg.querySelector("title").textContent);
      });
      row.appendChild(button);
    });
    figure.appendChild(row);
  }
  function fileName(title, ending) {
    return (title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80) || "figure")
      + ending;
  }
  function paper() { return window.getComputedStyle(document.body).backgroundColor; }

  function saveSvg(svg, title) {
    var copy = svg.cloneNode(true);
    var from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
    Array.prototype.forEach.call(from, function (one, k) {
      if (/^(title|desc)$/i.test(one.tagName)) return;
      var style = window.getComputedStyle(one);
      looks.forEach(function (key) {
        to[k].setAttribute(key, style.getPropertyValue(key));
      });
      if (style.display === "none") to[k].setAttribute("display", "none");
      to[k].removeAttribute("class");
    });
    var box = svg.viewBox.baseVal;
    var back = document.createElementNS(svg.namespaceURI, "rect");
    back.setAttribute("width", box.width);
    back.setAttribute("height", box.height);
    back.setAttribute("fill", paper());
    copy.insertBefore(back, copy.firstChild);
    copy.setAttribute("xmlns", svg.namespaceURI);
    var text = new XMLSerializer().serializeToString(copy);
    saveFile(new Blob([text], { type: "image/svg+xml" }), fileName(title, ".svg"));
  }

  // Drawn part by part: the page may load no image, not even one that it has made itself.
  function savePng(svg, title) {
    var box = svg.viewBox.baseVal, zoom = 3;
    var canvas = make("canvas");
    canvas.width = box.width * zoom;
    canvas.height = box.height * zoom;
    var pen = canvas.getContext("2d");
    pen.scale(zoom, zoom);
    pen.fillStyle = paper();
    pen.fillRect(0, 0, box.width, box.height);
    Array.prototype.forEach.call(svg.children, function (part) { paint(pen, part, 1); });
    canvas.toBlob(function (blob) { saveFile(blob, fileName(title, ".png")); });
  }
  function paint(pen, part, strength) {
    var kind = part.tagName.toLowerCase();
    if (kind === "title" || kind === "desc" || kind === "clippath") return;
    var style = window.getComputedStyle(part);
    if (style.display === "none") return;
    strength *= Number(style.opacity);
    pen.save();
    if (part.dataset.clip) {
      var edge = part.dataset.clip.split(" ").map(Number);
      pen.beginPath();
      pen.rect(edge[0], edge[1], edge[2], edge[3]);
      pen.clip();
    }
    function number(name) { return Number(part.getAttribute(name) || 0); }
    var shape = null;
    if (kind === "path") shape = new Path2D(part.getAttribute("d"));
    else if (kind === "circle" || kind === "rect") {
      shape = new Path2D();
      if (kind === "rect") shape.rect(number("x"), number("y"), number("width"), number("height"));
      else shape.arc(number("cx"), number("cy"), number("r"), 0, 2 * Math.PI);
    }
    pen.lineWidth = parseFloat(style.strokeWidth) || 1;
    pen.lineCap = style.strokeLinecap;
    pen.lineJoin = style.strokeLinejoin;
    pen.setLineDash(style.strokeDasharray === "none" ? []
      : style.strokeDasharray.split(/[ ,]+/).map(parseFloat));
    if (kind === "text") {
      pen.font = style.fontWeight + " " + style.fontSize + " " + style.fontFamily;
      pen.textAlign = { middle: "center", end: "right" }[style.textAnchor] || "left";
      pen.globalAlpha = strength;
      pen.setLineDash([]);
      pen.strokeStyle = style.stroke;
      if (style.stroke !== "none") pen.strokeText(part.textContent, number("x"), number("y"));
      pen.fillStyle = style.fill;
      pen.fillText(part.textContent, number("x"), number("y"));
    } else if (shape) {
      if (style.fill !== "none") {
        pen.globalAlpha = strength * Number(style.fillOpacity);
        pen.fillStyle = style.fill;
        pen.fill(shape);
      }
      if (style.stroke !== "none") {
        pen.globalAlpha = strength;
        pen.strokeStyle = style.stroke;
        pen.stroke(shape);
      }
    } else Array.prototype.forEach.call(part.children, function (one) { paint(pen, one, strength); });
    pen.restore();
  }

  // ----------------------------------------------------------------------------------- paper

  function startPrint() {
    var media = window.matchMedia("print"), printing = false;
    function turn(on) { // paper shows the first rows, whatever is being looked at
      if (!ranking || printing === on) return;
      printing = on;
      if (on) ranking.paper(); else ranking.screen();
    }
    window.addEventListener("beforeprint", function () { turn(true); });
    window.addEventListener("afterprint", function () { turn(false); });
    media.addEventListener("change", function () { turn(media.matches); });
  }
})();
