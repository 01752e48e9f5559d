"""Writes one small profile in old versions of the processed format: old_profiles.py DIRECTORY

One file for each version at which a table changed: DIRECTORY/N.json. Two processes, each with a library, a function of
JavaScript and a label, and markers: an instant one, one with both times, and one of two halves.
"""

import json
import sys

STRINGS = ["(root)", "0xf84", "run", "spin (https://example.org/loader.js -> https://example.org/a.js:34)", "library",
           "https://example.org/a.js", "Tick", "Collect", "Flush", "Layout::Flush"]


def library(version, number):
    lib = {"breakpadId": "0000000000000000000000000000000%d0" % number, "debugName": "library%d.pdb" % number,
           "name": "library%d" % number, "path": "/opt/library%d" % number, "debugPath": "", "arch": "x86_64",
           "start": 4096, "end": 8192}
    if version < 2:
        return {"breakpadId": lib["breakpadId"], "pdbName": lib["debugName"], "name": lib["path"], "start": 4096,
                "end": 8192}
    return lib


def functions(version, strings):
    table = {"length": 4, "name": [0, 1, 3, 9], "resource": [-1, 0, 1, -1], "address": [-1, 3972, -1, -1],
             "isJS": [False, False, True, False]}
    if version >= 4:
        strings.append("spin")
        table["name"][2] = len(strings) - 1
        table["fileName"] = [None, None, 5, None]
        table["lineNumber"] = [None, None, 34, None]
    if version >= 17:
        table["relevantForJS"] = [False, False, False, False]
    if version >= 18:
        table["columnNumber"] = [None, None, None, None]
    return table


def markers(version, start):
    data = [None, {"type": "GC", "startTime": start + 2, "endTime": start + 3},
            {"type": "tracing", "category": "Paint", "interval": "start"},
            {"type": "tracing", "category": "Paint", "interval": "end"}]
    table = {"length": 4, "name": [6, 7, 8, 8], "data": data}
    if version < 30:
        table["time"] = [start + 1, start + 2, start + 4, start + 5]
    else:
        table["startTime"] = [start + 1, start + 2, start + 4, None]
        table["endTime"] = [None, start + 3, None, start + 5]
        table["phase"] = [0, 1, 2, 3]
    if version >= 24:
        table["category"] = [1, 1, 1, 1]
    return table


def thread(version, number):
    strings = list(STRINGS)
    start = 100 * number
    frames = {"length": 4, "line": [None, None, 35, None], "func": [0, 1, 2, 3], "address": [-1, 3972, -1, -1],
              "implementation": [None] * 4, "optimizations": [None] * 4,
              "category": [None, None, None, 3 if version >= 12 else 32]}
    stacks = {"length": 4, "prefix": [None, 0, 1, 1], "frame": [0, 1, 2, 3]}
    resources = {"length": 2, "type": [1, 5], "name": [4, 5], "lib": [number], "icon": [], "addonId": []}
    if version >= 4:
        resources["host"] = []
    if version >= 13:
        stacks["category"] = [1, 1, 1, 3]
    if version >= 15:
        frames["column"] = [None] * 4
    if version >= 23:
        frames["subcategory"] = [None, None, None, 0]
        stacks["subcategory"] = [0] * 4
    if version >= 27:
        frames["innerWindowID"] = [0] * 4
    if version >= 41:
        resources["lib"] = [number, None]
        resources["host"] = [None, None]
        frames["nativeSymbol"] = [None] * 4
        frames["inlineDepth"] = [0] * 4
    samples = {"length": 5, "stack": [1, 2, 2, 3, 1], "time": [start + i for i in range(5)],
               "responsiveness": [0] * 5}
    if 20 <= version < 29:
        samples["duration"] = [1, 1, 1, 1, 1]
    elif version >= 29:
        samples["weight"] = [1, 1, 1, 1, 1]
        samples["weightType"] = "samples"
    out = {"name": "GeckoMain", "libs": [library(version, 0), library(version, 1)], "frameTable": frames,
           "funcTable": functions(version, strings), "resourceTable": resources, "stackTable": stacks,
           "markers": markers(version, start), "samples": samples, "stringArray": strings, "tid": 10 + number}
    if version >= 1:
        out["processType"] = "tab" if number else "default"
    if version >= 7:
        out.update(processStartupTime=0, processShutdownTime=None, registerTime=0, unregisterTime=None, pausedRanges=[])
    if version >= 14:
        out["pid"] = str(10 + number) if version >= 47 else 10 + number
    if version >= 41:
        del out["libs"]
        out["nativeSymbols"] = {"length": 0, "libIndex": [], "address": [], "name": []}
        if version >= 42:
            out["nativeSymbols"]["functionSize"] = []
    if version >= 46:
        out["isMainThread"] = True
    return out


def profile(version):
    categories = ["Idle", "Other", "JavaScript", "Layout", "Graphics", "DOM", "GC / CC", "Network"]
    colors = ["transparent", "grey", "yellow", "purple", "green", "blue", "orange", "lightblue"]
    meta = {"interval": 1, "startTime": 0, "abi": "x86_64-gcc3", "oscpu": "Linux", "platform": "X11", "processType": 0,
            "product": "Firefox", "stackwalk": 1, "toolkit": "gtk", "version": 3 + version // 3, "misc": "rv:48.0",
            "preprocessedProfileVersion": version}
    if version >= 12:
        meta["categories"] = [{"name": n, "color": c, **({"subcategories": ["Other"]} if version >= 23 else {})}
                              for n, c in zip(categories, colors)]
    if version >= 33:
        meta["markerSchema"] = []
    out = {"meta": meta, "threads": [thread(version, 0), thread(version, 1)]}
    if version >= 41:
        out["libs"] = [{k: v for k, v in library(version, i).items() if k not in ("start", "end")} | {"codeId": None}
                       for i in (0, 1)]
    if version >= 25:
        counter = {"name": "malloc", "category": "Memory", "description": "", "pid": out["threads"][0]["pid"],
                   "mainThreadIndex": 0}
        values = {"length": 3, "time": [0, 2, 4], "count": [100, 20, 30], "number": [1, 1, 1]}
        out["counters"] = [{**counter, "samples": values} if version >= 48
                           else {**counter, "sampleGroups": [{"id": 0, "samples": values}]}]
    return out


for number in (1, 2, 4, 7, 12, 13, 14, 15, 17, 18, 20, 23, 24, 26, 27, 29, 30, 33, 41, 42, 46, 47, 48):
    with open("%s/%d.json" % (sys.argv[1], number), "w", encoding="utf-8") as file:
        json.dump(profile(number), file)
